import { type Document, type ErrorCode, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'

/** Texts just as they are written: `0012` is `0012`. `~`, `null` and nothing at all are null. */
export type Tree = string | null | readonly Tree[] | ReadonlyMap<string, Tree>

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
const otherwise = 'not valid YAML; a value with punctuation at its start or after a quote or bracket needs quotes'

/** Fills `problems` by offset. */
function toTree(document: Document.Parsed, source: string, problems: Map<number, string>): Tree {
  const finished = new Map<Node, Tree>()
  const anchors = new Map<string, number>()
  const offsetOf = ({ range }: Node) => range?.[0] ?? 0

  const content = (node: Node): Tree => {
    if (isScalar(node)) return node.value === null ? null : (node.source ?? String(node.value))
    if (isSeq<Node | null>(node)) return node.items.map(visit)
    if (!isMap<Node | null, Node | null>(node)) return null
    const entries = node.items.map(({ key, value }): [string, Tree] => {
      const name = visit(key)
      if (typeof name === 'string') return [name, visit(value)]
      problems.set(offsetOf(key ?? node), 'expected the name of a setting before the colon')
      return ['', null]
    })
    return new Map(entries)
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

/**
 * What a YAML text holds; undefined where it cannot be read: then each mistake, with line and column and without any of the text,
 * is added to `problems`.
 */
export function parseTree(source: string, path: string, problems: string[]): Tree | undefined {
  const lineCounter = new LineCounter()
  const document = parseDocument(source, { lineCounter, prettyErrors: false })
  const found = new Map<number, string>()
  for (const { pos, code } of [...document.errors, ...document.warnings]) found.set(pos[0], advice[code] ?? otherwise)
  const tree = found.size === 0 ? toTree(document, source, found) : undefined
  for (const [offset, text] of [...found].sort(([a], [b]) => a - b)) {
    const { line, col } = lineCounter.linePos(offset)
    problems.push(`${path}, line ${line}, column ${col}: ${text}`)
  }
  return found.size === 0 ? tree : undefined
}
