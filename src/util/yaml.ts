import type { Document, ErrorCode, LineCounter, Node, YAMLError } from 'yaml'
import { load } from './load.ts'

const library = () => load<typeof import('yaml')>('yaml')

/** A YAML value with scalars as written: `0012` stays `0012`. `~`, `null` and missing values are null. */
export type Tree = string | null | readonly Tree[] | ReadonlyMap<string, Tree>

export const isMap = (value: Tree | undefined): value is ReadonlyMap<string, Tree> => value instanceof Map
export const isList = (value: Tree | undefined): value is readonly Tree[] => Array.isArray(value)

/** The line of each key of a mapping, from 1. */
const keyLines = new WeakMap<ReadonlyMap<string, Tree>, ReadonlyMap<string, number>>()

/** The line of a key; undefined for a mapping that was not created by parseTree(). */
export const lineOf = (map: ReadonlyMap<string, Tree>, key: string): number | undefined => keyLines.get(map)?.get(key)

const duplicateKey = 'duplicate key'
const unquotedReference = 'a value that starts with * or & needs quotes'

// Used instead of the messages of the library, which quote the text and so may contain secrets.
const advice: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: unquotedReference,
  BAD_DQ_ESCAPE: 'within double quotes, write \\ as \\\\, or use single quotes',
  BAD_INDENT: 'expected the same indentation as above, and closed brackets',
  BAD_SCALAR_START: 'a value that starts with @, ` or % needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a value that contains ": " needs quotes, and settings of the same level need the same indentation',
  MISSING_CHAR: 'a quote or a bracket is not closed, or a comma is missing',
  MULTIPLE_DOCS: 'expected one document; remove the line ---',
  TAB_AS_INDENT: 'indent with spaces instead of tabs',
  TAG_RESOLVE_FAILED: 'a value that starts with ! needs quotes',
}
const wrongIndentation = 'wrong indentation; settings of the same level start at the same column, nested ones further right'
const otherwise = 'not valid YAML; a value that starts with punctuation, or has it after a quote or bracket, needs quotes'

/** The first setting of the file is indented. */
const indentedStart = /^(?:[ \t]*(?:#.*)?\r?\n)*[ ]+[^\s#]/

/** Offset of a line with wrong indentation; undefined if the error has another cause. */
function misindentedAt(
  { code, message, pos: [start, end] }: YAMLError,
  source: string,
  isStartIndented: boolean,
): number | undefined {
  // A key that was parsed as a continuation of the value above, because it is indented further.
  if (code === 'MULTILINE_IMPLICIT_KEY')
    return source.slice(start, end).includes('\n') ? source.lastIndexOf('\n', end - 1) + 1 : start
  const isIndentation =
    (code === 'BAD_INDENT' && message.startsWith('All ')) || (code === 'MISSING_CHAR' && message.startsWith('Sequence item'))
  if (isIndentation) return start
  // A later setting is not indented.
  return code === 'UNEXPECTED_TOKEN' && isStartIndented && source[start - 1] === '\n' ? start : undefined
}

const unreplacedVariable =
  'environment variables are not replaced in this file; write the value, use the File form of a secret, or set it in the environment'

/** A value such as `${RCON_PASSWORD}`, as Compose and shells replace it. */
const variableValue = /^\$\{\w[^}]*\}$/
/** Offsets of variables within brackets, where `{` ends the value before it. */
const variableOffsets = (source: string): readonly number[] => [...source.matchAll(/\$\{\w[^{}\n]*\}/g)].map(({ index }) => index)

/** Messages by offset. Wrong indentation and variables are reported alone, because they cause further errors. */
function syntaxProblems(errors: readonly YAMLError[], source: string): Map<number, string> {
  const isStartIndented = indentedStart.test(source)
  const offsets = errors.flatMap((error) => misindentedAt(error, source, isStartIndented) ?? [])
  if (offsets.length > 0) return new Map([[offsets.reduce((a, b) => Math.min(a, b)), wrongIndentation]])
  // Reported at the bracket, or at the dollar sign.
  const starts = new Set(errors.flatMap(({ pos }) => [pos[0], pos[0] - 1]))
  const variables = variableOffsets(source).filter((offset) => starts.has(offset))
  if (variables.length > 0) return new Map(variables.map((offset) => [offset, unreplacedVariable]))
  return new Map(errors.map(({ pos, code }) => [pos[0], advice[code] ?? otherwise]))
}

/** Converts the document; mistakes are added to `problems` by offset. */
function toTree(document: Document.Parsed, source: string, lines: LineCounter, problems: Map<number, string>): Tree {
  /** The last node with each anchor. Alias.resolve() would search the whole document. */
  const anchored = new Map<string, Node>()
  const finished = new Map<Node, Tree>()
  const anchors = new Map<string, number>()
  const offsetOf = ({ range }: Node) => range?.[0] ?? 0

  const { isAlias, isMap: isMapping, isScalar, isSeq } = library()

  const content = (node: Node): Tree => {
    if (isScalar(node)) {
      const text = node.value === null ? null : (node.source ?? String(node.value))
      if (text !== null && variableValue.test(text)) problems.set(offsetOf(node), unreplacedVariable)
      return text
    }
    if (isSeq<Node | null>(node)) return node.items.map(visit)
    if (!isMapping<Node | null, Node | null>(node)) return null
    const lineByKey = new Map<string, number>()
    const entries = node.items.map(({ key, value }): [string, Tree] => {
      const name = visit(key)
      if (typeof name !== 'string') {
        problems.set(offsetOf(key ?? node), 'expected the name of a setting before the colon')
        return ['', null]
      }
      if (lineByKey.has(name)) problems.set(offsetOf(key ?? node), duplicateKey)
      lineByKey.set(name, lines.linePos(offsetOf(key ?? node)).line)
      return [name, visit(value)]
    })
    const map = new Map(entries)
    keyLines.set(map, lineByKey)
    return map
  }
  const visit = (node: Node | null): Tree => {
    if (node === null) return null
    if (isAlias(node)) {
      const target = anchored.get(node.source)
      const tree = target && finished.get(target)
      // Not finished: the alias is inside its own anchor.
      if (tree === undefined) problems.set(offsetOf(node), unquotedReference)
      anchors.delete(node.source)
      return tree ?? null
    }
    if ('anchor' in node && node.anchor) {
      anchored.set(node.anchor, node)
      anchors.set(node.anchor, source.lastIndexOf(`&${node.anchor}`, offsetOf(node)))
    }
    const tree = content(node)
    finished.set(node, tree)
    return tree
  }

  const tree = visit(document.contents)
  // An unused anchor is probably a value that starts with `&`.
  for (const offset of anchors.values()) problems.set(offset, unquotedReference)
  return tree
}

/** Far more levels than any real file has. The library handles them recursively: 1,000 end the process. */
const maxDepth = 64

function isTooDeep(source: string): boolean {
  const { Lexer, Parser } = library()
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(source)) {
    // A generator: the tokens are not needed.
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > maxDepth) return true
  }
  return false
}

/** Parsing takes seconds and hundreds of MB for so many characters, and blocks everything else: over 50,000 servers. */
const maxLength = 4 * 1024 * 1024

/**
 * Parses a YAML text. Returns undefined if it is not valid: each mistake, with line and column but without quoting the text,
 * is added to `problems`.
 */
export function parseTree(source: string, path: string, problems: string[]): Tree | undefined {
  if (source.length > maxLength) {
    problems.push(
      `${path}: it has ${source.length} characters, more than ${maxLength}; YAML of that size takes too long to parse`,
    )
    return undefined
  }
  if (isTooDeep(source)) {
    problems.push(`${path}: it has more than ${maxDepth} nested levels`)
    return undefined
  }
  const { LineCounter, parseDocument } = library()
  const lineCounter = new LineCounter()
  // The library would compare each key with all keys before it.
  const document = parseDocument(source, { lineCounter, prettyErrors: false, uniqueKeys: false })
  const found = syntaxProblems([...document.errors, ...document.warnings], source)
  const tree = found.size === 0 ? toTree(document, source, lineCounter, found) : undefined
  for (const [offset, text] of [...found].sort(([a], [b]) => a - b)) {
    const { line, col } = lineCounter.linePos(offset)
    problems.push(`${path}, line ${line}, column ${col}: ${text}`)
  }
  return found.size === 0 ? tree : undefined
}
