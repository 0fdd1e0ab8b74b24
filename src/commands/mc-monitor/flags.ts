import { maxTimerMs } from '../../util/clock.ts'

/** One flag in the notation of Go: `-name value` or `--name=value`. */
export interface GoFlag {
  readonly name: string
  readonly type: 'string' | 'int' | 'duration' | 'bool' | 'list'
  readonly default: string
  readonly env?: string
  readonly meaning?: string
}

/** Wrong flags: exit code 2. */
export class FlagError extends Error {
  override readonly name = 'FlagError'
}

/** A wrong value in the environment: exit code 1. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError'
}

const unitsMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** A duration of Go in milliseconds, `1m30s`; undefined if it is not valid. */
export function goDuration(text: string): number | undefined {
  if (text === '0') return 0
  const [, sign = '', rest = ''] = /^([-+]?)(.*)$/s.exec(text) ?? []
  if (rest.length > 100 || !/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(rest)) return undefined
  // recheck: at most 100 characters.
  const sum = [...rest.matchAll(/(\d+(?:\.\d+)?)([a-zµ]+)/g)].reduce(
    (ms, [, count, unit = '']) => ms + Number(count) * (unitsMs[unit] ?? 0),
    0,
  )
  return sign === '-' ? -sum : sum
}

const isTrue = (text: string): boolean => /^(1|[tT]|true|TRUE|True)$/.test(text)
const isFalse = (text: string): boolean => /^(0|[fF]|false|FALSE|False)$/.test(text)

const isValid = ({ type }: GoFlag, text: string): boolean =>
  (type !== 'int' || /^[-+]?\d{1,15}$/.test(text)) &&
  (type !== 'duration' || goDuration(text) !== undefined) &&
  (type !== 'bool' || isTrue(text) || isFalse(text))

export type GoValues = ReturnType<typeof parseGoFlags>['values']

/**
 * Parses flags as Go's flag package does, after the environment. Flags end at the first other argument.
 * @throws FlagError, EnvironmentError
 */
export function parseGoFlags(
  flags: readonly GoFlag[],
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
) {
  const texts = new Map(flags.map((flag) => [flag.name, flag.default]))
  for (const flag of flags) {
    const text = flag.env === undefined ? undefined : env[flag.env]
    if (text === undefined || text === '') continue
    if (!isValid(flag, text)) throw new EnvironmentError(`failed to set from environment variable ${flag.env}: parse error`)
    texts.set(flag.name, text)
  }
  let at = 0
  for (; at < args.length; at++) {
    const token = args[at] ?? ''
    if (token === '--') {
      at++
      break
    }
    if (!/^-{1,2}[^-=]/.test(token)) break
    const [, name = '', given] = /^-{1,2}([^=]*)(?:=(.*))?$/s.exec(token) ?? []
    const flag = flags.find((one) => one.name === name)
    if (flag === undefined) throw new FlagError(name === 'help' || name === 'h' ? '' : `flag provided but not defined: -${name}`)
    const text = given ?? (flag.type === 'bool' ? 'true' : args[++at])
    if (text === undefined) throw new FlagError(`flag needs an argument: -${name}`)
    if (!isValid(flag, text)) {
      const what = flag.type === 'bool' ? `boolean value ${JSON.stringify(text)} for` : `value ${JSON.stringify(text)} for flag`
      throw new FlagError(`invalid ${what} -${name}: parse error`)
    }
    const before = texts.get(name)
    texts.set(name, flag.type === 'list' && before ? `${before},${text}` : text)
  }
  const text = (name: string) => texts.get(name) ?? ''
  const words = (name: string) => text(name).split(/[,\n]/)
  const values = {
    text,
    number: (name: string) => Number(text(name)),
    /** Milliseconds, at most what a timer accepts. */
    duration: (name: string) => Math.min(goDuration(text(name)) ?? 0, maxTimerMs),
    isSet: (name: string) => isTrue(text(name)),
    list: (name: string) => words(name).flatMap((word) => word.trim() || []),
  }
  return { values, rest: args.slice(at) as readonly string[] }
}

/** The flags as Go's flag package prints them. */
export const goUsage = (flags: readonly GoFlag[]): string =>
  [...flags]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, default: fallback, env, meaning = '' }) => {
      const kind = { string: ' string', int: ' int', duration: ' duration', bool: '', list: ' host:port' }[type]
      const shown = type === 'string' ? JSON.stringify(fallback) : fallback
      const isZero = fallback === '' || fallback === '0' || fallback === 'false'
      return `  -${name}${kind}\n    \t${meaning}${env === undefined ? '' : ` (env ${env})`}${isZero ? '' : ` (default ${shown})`}\n`
    })
    .join('')
