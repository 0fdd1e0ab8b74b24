// Checks that no regular expression of the service takes more than linear time on any text. One that may is listed, unless a comment
// `recheck: REASON` is on its line or the one above.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import jsTokens from 'js-tokens'

// The entry for browsers is JavaScript alone; the main one starts a native program or a JVM if it finds one.
const recheckEntry = '../tools/node_modules/recheck/lib/browser.js'

export interface Expression {
  /** From 1. */
  readonly line: number
  /** Undefined for one that is created from a text when the code runs. */
  readonly pattern?: { readonly source: string; readonly flags: string }
  /** Why it need not be linear. */
  readonly reason?: string
}

/** Finds the literals, calls of RegExp and `pattern`s of schemas in TypeScript or JavaScript. */
export function findExpressions(code: string): readonly Expression[] {
  const reasons = new Map<number, string>()
  const found: Expression[] = []
  let line = 1
  const last: string[] = []
  for (const { type, value } of jsTokens(code)) {
    const [before = '', previous] = last.slice(-2)
    const reason = /^(?:\/\/|\/\*\*?) recheck: (.*?)(?: ?\*\/)?$/.exec(value)?.[1]
    if (reason !== undefined) reasons.set(line, reason)
    if (type === 'RegularExpressionLiteral') {
      const end = value.lastIndexOf('/')
      found.push({ line, pattern: { source: value.slice(1, end), flags: value.slice(end + 1) } })
    } else if (type === 'StringLiteral' && before === 'pattern' && previous === ':') {
      // As in JSON Schema.
      const source = JSON.parse(`"${value.slice(1, -1)}"`) as string
      found.push({ line, pattern: { source, flags: 'u' } })
    } else if (value === '(' && previous === 'RegExp') found.push({ line })
    if (!['WhiteSpace', 'LineTerminatorSequence', 'SingleLineComment', 'MultiLineComment'].includes(type)) last.push(value)
    line += value.split('\n').length - 1
  }
  return found.map((expression) => {
    const reason = reasons.get(expression.line) ?? reasons.get(expression.line - 1)
    return reason === undefined ? expression : { ...expression, reason }
  })
}

/** Without a quantifier that repeats without a limit, the time at each position is constant. */
const isUnlimited = (source: string): boolean => /[*+]|\{\d+,\}/.test(source)

/** Returns what is wrong with an expression; undefined if it takes linear time. */
export function problemOf(source: string, flags: string): string | undefined {
  if (!isUnlimited(source)) return undefined
  const { checkSync } = createRequire(import.meta.url)(recheckEntry) as typeof import('../tools/node_modules/recheck/index.d.ts')
  // The limits count steps: those in time would depend on the machine.
  const result = checkSync(source, flags, { timeout: 120_000, attackTimeout: null, incubationTimeout: null })
  if (result.status === 'safe') return undefined
  if (result.status === 'unknown') return `cannot be checked (${result.error.kind})`
  return `takes ${result.complexity.summary} time on ${result.attack.pattern}`
}

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
/** The results by expression, null if it is linear: all together take a minute. `LONG_TESTS=1` makes them again. */
const resultsPath = join(root, 'test/tools/regular-expressions.json')

function readResults(): Record<string, string | null> {
  if (process.env.LONG_TESTS === '1') return {}
  return JSON.parse(readFileSync(resultsPath, 'utf8')) as Record<string, string | null>
}

function writeResults(results: Record<string, string | null>): void {
  const text = `${JSON.stringify(results, Object.keys(results).toSorted(), 2)}\n`
  if (text !== readFileSync(resultsPath, 'utf8')) writeFileSync(resultsPath, text)
}

/** Expressions that files create when they are imported, by `path:line`. */
function recordCreated(): ReadonlyMap<string, RegExp> {
  const created = new Map<string, RegExp>()
  globalThis.RegExp = new Proxy(RegExp, {
    construct(target, given: [string, string?]) {
      const expression = Reflect.construct(target, given) as RegExp
      const [, place] = /((?:\/|[A-Z]:)[^()]+:\d+):\d+\)?$/.exec(new Error().stack?.split('\n')[2] ?? '') ?? []
      if (place !== undefined) created.set(place, expression)
      return expression
    },
  })
  return created
}

async function main(): Promise<void> {
  const before = readResults()
  const created = recordCreated()
  const results: Record<string, string | null> = {}
  const problems: string[] = []
  const files = ['src', 'exporter'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.m?[jt]s$/.test(path))
      .map((path) => join(root, folder, path)),
  )
  for (const file of files) {
    const found = findExpressions(readFileSync(file, 'utf8'))
    if (found.some(({ pattern, reason }) => (pattern ?? reason) === undefined)) await import(pathToFileURL(file).href)
    for (const { line, pattern = created.get(`${file}:${line}`), reason } of found) {
      const place = `${relative(root, file)}:${line}`
      if (pattern === undefined) {
        if (reason === undefined) problems.push(`${place}: is created at run time and cannot be checked`)
        continue
      }
      const key = `/${pattern.source}/${pattern.flags}`
      const result = key in results ? results[key] : key in before ? before[key] : problemOf(pattern.source, pattern.flags)
      if (isUnlimited(pattern.source)) results[key] = result ?? null
      if (result && reason === undefined) problems.push(`${place}: ${key} ${result}`)
      if (!result && reason !== undefined) problems.push(`${place}: ${key} is linear, so it needs no reason`)
    }
  }
  writeResults(results)
  if (problems.length === 0) return
  console.error(problems.join('\n'))
  console.error('\nRewrite each, or add the comment "recheck: REASON" above it if its text is short or trusted.')
  process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
