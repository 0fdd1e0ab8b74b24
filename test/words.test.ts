import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import jsTokens from 'js-tokens'
import { lexer, type Tokens } from 'marked'
import { describe, expect, it } from 'vitest'
import { pagePaths } from './docs/markdown.ts'

const root = join(import.meta.dirname, '..')
const wordsPage = 'docs/contributing/words.md'

type Place = 'text' | 'names'

interface BannedWords {
  /** Words or phrases in lower case. */
  readonly phrases: readonly string[]
  readonly places: readonly string[]
  readonly instead: string
  /** Phrases that may contain them. */
  readonly allowed: readonly string[]
}

const codesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '')

/** The rows of the table of words.md whose first column is `avoid`. */
function readTable(page: string): BannedWords[] {
  const tables = lexer(page).filter((token) => token.type === 'table') as Tokens.Table[]
  const table = tables.find(({ header }) => header[0]?.text === 'avoid')
  return (table?.rows ?? []).map(([avoid, places, instead, except]) => ({
    phrases: codesIn(avoid!.text),
    places: places!.text.split(', '),
    instead: instead!.text,
    allowed: codesIn(except!.text),
  }))
}

const banned = readTable(readFileSync(join(root, wordsPage), 'utf8'))

/** Matches a phrase in text whose words are separated by single spaces. */
const patternOf = (phrases: readonly string[]) => new RegExp(`\\b(?:${phrases.join('|')})\\b`, 'g')
const patterns = banned.map((words) => ({
  ...words,
  pattern: patternOf(words.phrases),
  allowedPattern: words.allowed.length > 0 ? patternOf(words.allowed) : undefined,
}))

/** The banned phrases in some words, with their replacements. */
function findBanned(place: Place, text: string): string[] {
  const plain = text.toLowerCase().replaceAll(/\s+/g, ' ')
  return patterns
    .filter(({ places }) => places.includes(place))
    .flatMap(({ pattern, allowedPattern, instead }) => {
      const remaining = allowedPattern ? plain.replaceAll(allowedPattern, '') : plain
      return [...remaining.matchAll(pattern)].map(([phrase]) => `"${phrase}" (write: ${instead})`)
    })
}

/** `maxBytes` or `max-bytes` as `max Bytes`. */
const splitName = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replaceAll(/[_$#.-]+/g, ' ')

const checkedNames = new Map<string, readonly string[]>()

/** Problems of an identifier; the same ones occur thousands of times. */
function checkName(name: string): readonly string[] {
  const problems = checkedNames.get(name) ?? findBanned('names', splitName(name)).map((problem) => `${name}: ${problem}`)
  checkedNames.set(name, problems)
  return problems
}

const withoutCode = (text: string): string => text.replaceAll(/`[^`]*`/g, '')

/** The text of a comment without its delimiters. */
const commentText = (comment: string): string => withoutCode(comment.replaceAll(/^\/[/*]+|\*+\/$|^\s*(?:\*|\/\/)/gm, ' '))

/** A string after `it(`, `describe(`, or the second parenthesis of `it.each(...)(`. */
const testName = /(?:\b(?:it|describe|test)|\.(?:for|skipIf|runIf)\([^\n]*\)|\]\)|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])+)\1\s*,/g

/** Problems of the names of the tests in a file. */
const checkTestNames = (path: string, source: string): string[] =>
  [...source.matchAll(testName)].flatMap(({ 2: name }) =>
    findBanned('text', name ?? '').map((problem) => `${path}: test "${name}": ${problem}`),
  )

/** Problems of a source file, each with its line. Comments in consecutive lines are read as one text. */
function checkSource(path: string, source: string): string[] {
  const found = findBanned('names', splitName(basename(path))).map((problem) => `${path}: file name: ${problem}`)
  const add = (line: number, problems: readonly string[]) =>
    found.push(...problems.map((problem) => `${path}:${line}: ${problem}`))
  let line = 1
  let lineComments = ''
  for (const { type, value } of jsTokens(source)) {
    if (type === 'SingleLineComment') lineComments += `${value}\n`
    else if (type !== 'WhiteSpace' && type !== 'LineTerminatorSequence') {
      if (lineComments !== '') add(line, findBanned('text', commentText(lineComments)))
      lineComments = ''
    }
    if (type === 'MultiLineComment') add(line, findBanned('text', commentText(value)))
    if (type === 'IdentifierName' || type === 'PrivateIdentifier') add(line, checkName(value))
    line += value.split('\n').length - 1
  }
  add(line, findBanned('text', commentText(lineComments)))
  return found
}

/** Markdown without code, comments and the targets of links. */
const markdownText = (page: string): string =>
  withoutCode(page.replaceAll(/^( *)(```|~~~)[\s\S]*?^ *\2/gm, '').replaceAll(/<!--[\s\S]*?-->|\]\([^)]*\)/g, ''))

const folders = ['src', 'exporter', 'grafana/src', 'docs/src', 'bench', 'test']
/** Recorded data, and the programs of others with their lock files. */
const skipped = /^test\/(fixtures|peers|tools)\/|\/node_modules\//

const sourcePaths = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => /\.(ts|js|mjs)$/.test(path) && !skipped.test(path)),
)

describe('the words to avoid', () => {
  it('are read from words.md', () => {
    expect(banned.length).toBeGreaterThan(10)
    for (const { phrases, places, instead } of banned) {
      expect(phrases).not.toEqual([])
      expect(places.filter((place) => place !== 'text' && place !== 'names')).toEqual([])
      expect(instead).not.toBe('')
    }
  })

  it('are found in comments, identifiers and file names, and not in strings and code', () => {
    const source = `// The last
// figure.
const mostBytes = 'nobody' // \`nobody\` looks it up, and\u0020
/** A name to look up. */
const lookup = Promise.allSettled([/nobody/, \`nobody \${whoeverAsked}\`])`
    const words = checkSource('src/keeper.ts', source).map((problem) => /^(.*?): .*?"(.+?)"/.exec(problem)?.slice(1).join(' '))
    expect(words).toEqual([
      'src/keeper.ts keeper',
      'src/keeper.ts:3 figure',
      'src/keeper.ts:3 most',
      'src/keeper.ts:4 looks',
      'src/keeper.ts:5 asked',
      'src/keeper.ts:5 whoever',
    ])
    expect(findBanned('text', markdownText('`asked` [x](together.md)\n```sh\nsays\n```\nIt\nis\nthere.'))).toHaveLength(1)
  })

  it('are not in the sources', () => {
    expect(sourcePaths.flatMap((path) => checkSource(path, readFileSync(join(root, path), 'utf8')))).toEqual([])
  })

  it('are not in the names of tests', () => {
    const phrase = banned[0]?.phrases[0] ?? ''
    expect(checkTestNames('x', `it('keeps it', run)\nit.each([1])('${phrase} %s', run)`)).toHaveLength(1)
    const tests = sourcePaths.filter((path) => path.startsWith('test/'))
    expect(tests.flatMap((path) => checkTestNames(path, readFileSync(join(root, path), 'utf8')))).toEqual([])
  })

  it('are not in the pages', () => {
    const problems = (path: string) => findBanned('text', markdownText(readFileSync(join(root, path), 'utf8')))
    expect(pagePaths.flatMap((path) => problems(path).map((problem) => `${path}: ${problem}`))).toEqual([])
  })
})
