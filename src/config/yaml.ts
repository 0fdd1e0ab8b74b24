import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLError,
} from 'yaml'

/** Texts just as they are written: `0012` is `0012`. `~`, `null` and nothing at all are null. */
export type Tree = string | null | readonly Tree[] | ReadonlyMap<string, Tree>

/** The same with objects in place of maps. What several aliases refer to is one object too: a small text may refer to it very often. */
export function toPlain(tree: Tree): unknown {
  const made = new Map<Tree, unknown>()
  const convert = (tree: Tree): unknown => {
    if (tree === null || typeof tree === 'string') return tree
    const plain =
      made.get(tree) ??
      (tree instanceof Map
        ? Object.fromEntries([...tree].map(([key, value]) => [key, convert(value)]))
        : (tree as readonly Tree[]).map(convert))
    made.set(tree, plain)
    return plain
  }
  return convert(tree)
}

/** The line of each key of a mapping, from 1. */
const keyLines = new WeakMap<ReadonlyMap<string, Tree>, ReadonlyMap<string, number>>()

/** The line of a key; undefined for a mapping that parseTree() did not make. */
export const lineOf = (map: ReadonlyMap<string, Tree>, key: string): number | undefined => keyLines.get(map)?.get(key)

const unquotedReference = 'a value that starts with * or & needs quotes'

// The messages of the library quote what they complain of, which may be a secret.
const advice: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: unquotedReference,
  BAD_DQ_ESCAPE: 'within double quotes, write \\\\ for a \\; single quotes take it as it is',
  BAD_INDENT: 'expected the indentation of the lines above, and every bracket closed',
  BAD_SCALAR_START: 'a value that starts with @, ` or % needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a value with ": " in it needs quotes, and the settings of one place the same indentation',
  DUPLICATE_KEY: 'duplicate key',
  MISSING_CHAR: 'a quote or a bracket is not closed, or a comma is missing',
  MULTIPLE_DOCS: 'expected one document; remove the line ---',
  TAB_AS_INDENT: 'indent with spaces instead of tabs',
  TAG_RESOLVE_FAILED: 'a value that starts with ! needs quotes',
}
const wrongIndentation =
  'wrong indentation; the settings of one place start at the same column, those within another setting further right'
const otherwise = 'not valid YAML; a value with punctuation at its start or after a quote or bracket needs quotes'

/** Where a line has the wrong indentation, by its offset; undefined where the error has another cause. */
function misindentedAt({ code, message, pos: [start, end] }: YAMLError, source: string): number | undefined {
  // A value that goes on in the next line, because that is indented further, and turns out to be a key.
  if (code === 'MULTILINE_IMPLICIT_KEY')
    return source.slice(start, end).includes('\n') ? source.lastIndexOf('\n', end - 1) + 1 : start
  const isIndentation =
    (code === 'BAD_INDENT' && message.startsWith('All ')) || (code === 'MISSING_CHAR' && message.startsWith('Sequence item'))
  if (isIndentation) return start
  // The first setting of the file is indented, a later one is not.
  return code === 'UNEXPECTED_TOKEN' && /^(\s*(#.*)?\n)*[ ]+[^\s#]/.test(source) && source[start - 1] === '\n' ? start : undefined
}

/** What is wrong with the text, by offset: of a wrong indentation only the first place, because more errors follow from it. */
function syntaxProblems(errors: readonly YAMLError[], source: string): Map<number, string> {
  const offsets = errors.flatMap((error) => misindentedAt(error, source) ?? [])
  if (offsets.length > 0) return new Map([[Math.min(...offsets), wrongIndentation]])
  return new Map(errors.map(({ pos, code }) => [pos[0], advice[code] ?? otherwise]))
}

/** Fills `problems` by offset. */
function toTree(document: Document.Parsed, source: string, lines: LineCounter, problems: Map<number, string>): Tree {
  const finished = new Map<Node, Tree>()
  const anchors = new Map<string, number>()
  const offsetOf = ({ range }: Node) => range?.[0] ?? 0

  const content = (node: Node): Tree => {
    if (isScalar(node)) return node.value === null ? null : (node.source ?? String(node.value))
    if (isSeq<Node | null>(node)) return node.items.map(visit)
    if (!isMap<Node | null, Node | null>(node)) return null
    const lineByKey = new Map<string, number>()
    const entries = node.items.map(({ key, value }): [string, Tree] => {
      const name = visit(key)
      if (typeof name !== 'string') {
        problems.set(offsetOf(key ?? node), 'expected the name of a setting before the colon')
        return ['', null]
      }
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
      const target = node.resolve(document)
      const tree = target && finished.get(target)
      // Not finished: it stands within what it refers to.
      if (tree === undefined) problems.set(offsetOf(node), unquotedReference)
      anchors.delete(node.source)
      return tree ?? null
    }
    if ('anchor' in node && node.anchor) anchors.set(node.anchor, source.lastIndexOf(`&${node.anchor}`, offsetOf(node)))
    const tree = content(node)
    finished.set(node, tree)
    return tree
  }

  const tree = visit(document.contents)
  // A name that nothing refers to is a value that lost its first letters.
  for (const offset of anchors.values()) problems.set(offset, unquotedReference)
  return tree
}

/** Parsing takes seconds and hundreds of MB for so many characters, and holds up everything else: over 50,000 servers. */
const maxLength = 4 * 1024 * 1024

/**
 * What a YAML text holds; undefined where it cannot be read: then each mistake, with line and column and without any of the text,
 * is added to `problems`.
 */
export function parseTree(source: string, path: string, problems: string[]): Tree | undefined {
  if (source.length > maxLength) {
    problems.push(
      `${path}: it has ${source.length} characters, more than ${maxLength}; YAML of that size takes too long to parse`,
    )
    return undefined
  }
  const lineCounter = new LineCounter()
  const document = parseDocument(source, { lineCounter, prettyErrors: false })
  const found = syntaxProblems([...document.errors, ...document.warnings], source)
  const tree = found.size === 0 ? toTree(document, source, lineCounter, found) : undefined
  for (const [offset, text] of [...found].sort(([a], [b]) => a - b)) {
    const { line, col } = lineCounter.linePos(offset)
    problems.push(`${path}, line ${line}, column ${col}: ${text}`)
  }
  return found.size === 0 ? tree : undefined
}
