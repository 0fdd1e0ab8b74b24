import { parseArgs } from 'node:util'
import type { Setting } from '../settings/setting.ts'
import { UsageError } from '../util/usage-error.ts'
import type { Call, Command, Flag } from './command.ts'

type Parsed = Pick<Call, 'args' | 'flags' | 'settings'>
type SettingFlags = ReadonlyMap<string, Setting<unknown>>

/** The message for an unknown flag, without its value, which may be a secret. */
async function unknownFlag(name: string, flags: readonly Flag[], settings: SettingFlags): Promise<string> {
  const secret = [...settings].find(([flag, { secret }]) => secret && flag === `${name}-file`)?.[1]
  if (secret !== undefined) {
    const file = `${secret.env}_FILE (--${name}-file)`
    return `--${name} is not an option, because other users of this machine can read flags; set ${secret.env}, or set ${file} to a file that contains it`
  }
  const { closestName } = await import('../settings/closest-name.ts')
  const meant = closestName(name, [...flags.map((flag) => flag.name), ...settings.keys(), 'help'], 2)
  return `unknown option '--${name}'${meant === undefined ? '' : `; did you mean --${meant}?`}`
}

function checkArguments({ name, args = [] }: Command, given: readonly string[]): void {
  const last = args.at(-1)
  const missing = args[given.length]
  if (missing !== undefined && !missing.isOptional) {
    const choices = missing.choices === undefined ? '' : `; one of ${missing.choices.join(', ')}`
    throw new UsageError(`missing argument '${missing.name}'${choices}`)
  }
  if (given.length > args.length && !last?.isRepeated)
    throw new UsageError(`too many arguments for '${name}': expected ${args.length}, but there are ${given.length}`)
  for (const [index, { name, choices }] of args.entries()) {
    const value = given[index]
    if (value !== undefined && choices !== undefined && !choices.includes(value))
      throw new UsageError(`${name} is ${JSON.stringify(value)}. Allowed choices are ${choices.join(', ')}`)
  }
}

/** `--force` without a value as `--force=`: otherwise the next flag would be its value. */
const markSwitches = (argv: readonly string[], isOptional: (name: string) => boolean): string[] =>
  argv.map((token, index) => {
    const next = argv[index + 1]
    const isBare = token.startsWith('--') && isOptional(token.slice(2)) && (next === undefined || next.startsWith('-'))
    return isBare ? `${token}=` : token
  })

/**
 * Parses the command line of one command, without `--help`.
 * @throws UsageError for an unknown flag, or wrong arguments; never with the value of an unknown flag
 */
export async function parseArguments(command: Command, argv: readonly string[]): Promise<Parsed> {
  const { flags } = command
  // Several hundred modules are only loaded if a flag is not one of the command's own.
  const isOwn = (token: string) => flags.some(({ name }) => token === `--${name}` || token.startsWith(`--${name}=`))
  const needsSettings = argv.some((token) => token.startsWith('-') && !isOwn(token))
  const settings: SettingFlags = (needsSettings && (await command.settings?.())) || new Map()
  const isSwitch = (name: string) => flags.some((flag) => flag.name === name && flag.value === undefined)
  const options = Object.fromEntries([
    ...flags.map(({ name, value }) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const),
    ...[...settings.keys()].map((name) => [name, { type: 'string' }] as const),
  ])
  // `--data-only` alone means true.
  const isOptional = (name: string) =>
    flags.some((flag) => flag.name === name && flag.isValueOptional) || settings.get(name)?.kind.example === 'true'
  const args = markSwitches(argv, isOptional)
  const { tokens, positionals } = parseArgs({ args, options, strict: false, tokens: true, allowPositionals: true })
  const [values, texts]: [Record<string, string | true>, Record<string, string>] = [{}, {}]
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName, value } = token
    const setting = settings.get(name)
    if (setting === undefined && !flags.some((flag) => flag.name === name))
      throw new UsageError(
        rawName.startsWith('--') ? await unknownFlag(name, flags, settings) : `unknown option '${rawName.slice(0, 2)}'`,
      )
    if (isSwitch(name)) {
      if (value !== undefined) throw new UsageError(`option '--${name}' takes no value`)
      values[name] = true
      continue
    }
    if (value === '' && isOptional(name)) {
      if (setting === undefined) values[name] = true
      else texts[setting.env] = 'true'
      continue
    }
    if (value === undefined || value === '') throw new UsageError(`option '--${name}' needs a value`)
    const choices = flags.find((flag) => flag.name === name)?.choices
    if (choices !== undefined && !choices.includes(value))
      throw new UsageError(`--${name} is ${JSON.stringify(value)}; expected ${choices.join(', ')}`)
    if (setting === undefined) values[name] = value
    else texts[setting.secret ? `${setting.env}_FILE` : setting.env] = value
  }
  checkArguments(command, positionals)
  return { args: positionals, flags: values, settings: texts }
}
