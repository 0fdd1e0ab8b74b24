/**
 * The result of a view: rendered as HTML on the server and as elements in the browser, so that both show the same. Strings are
 * always text, never markup.
 */
export interface ViewElement {
  readonly tag: string
  readonly attributes: Attributes
  readonly children: readonly ViewNode[]
}
export type ViewNode = ViewElement | string

type Value = string | number | boolean | null | undefined
/** False, null and undefined: no attribute; true: an attribute without a value. */
export interface Attributes {
  readonly [name: string]: Value | Readonly<Record<string, string>>
  /** Set only by the code in the browser: the content security policy allows no styles in HTML. */
  readonly style?: Readonly<Record<string, string>>
  /** Identifies a child among its siblings while it moves; not part of the HTML. */
  readonly key?: string
}

export type Child = ViewNode | number | null | undefined | false | readonly Child[]

function flatten(children: readonly Child[], into: ViewNode[]): ViewNode[] {
  for (const child of children) {
    if (Array.isArray(child)) flatten(child, into)
    else if (child !== null && child !== undefined && child !== false && child !== '')
      into.push(typeof child === 'number' ? String(child) : (child as ViewNode))
  }
  return into
}

export const h = (tag: string, attributes: Attributes = {}, children?: Child): ViewElement => ({
  tag,
  attributes,
  children: flatten([children], []),
})

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const special = /[&<>"]/
/** For text, and for attributes in double quotes. */
export const escapeHtml = (text: string): string =>
  special.test(text) ? text.replace(/[&<>"]/g, (character) => escapes[character] ?? '') : text

const voidTags = new Set(['br', 'hr', 'img', 'input', 'link', 'meta'])

/** The present attributes as strings. */
export function attributesOf({ attributes }: ViewElement): readonly (readonly [string, string])[] {
  const found: [string, string][] = []
  for (const name in attributes) {
    const value = attributes[name]
    if (name === 'key' || value === false || value === null || value === undefined || typeof value === 'object') continue
    found.push([name, value === true ? '' : String(value)])
  }
  return found
}

function openTag(node: ViewElement): string {
  let html = `<${node.tag}`
  for (const [name, value] of attributesOf(node)) html += ` ${name}="${escapeHtml(value)}"`
  return `${html}>`
}

/** The HTML of a node in parts, each of one element at most `depth` levels below it. */
export function* htmlParts(node: ViewNode, depth: number): Generator<string> {
  if (typeof node === 'string' || depth === 0 || voidTags.has(node.tag)) {
    yield toHtml(node)
    return
  }
  yield openTag(node)
  for (const child of node.children) yield* htmlParts(child, depth - 1)
  yield `</${node.tag}>`
}

export function toHtml(node: ViewNode): string {
  if (typeof node === 'string') return escapeHtml(node)
  let html = openTag(node)
  if (voidTags.has(node.tag)) return html
  for (const child of node.children) html += toHtml(child)
  return `${html}</${node.tag}>`
}
