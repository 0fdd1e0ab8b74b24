import { attributesOf, type ViewElement, type ViewNode } from '../view/node.ts'

const svg = 'http://www.w3.org/2000/svg'

/** That of the children of an element; undefined: HTML. */
const namespaceOf = (element: Element | null) => (element?.namespaceURI === svg ? svg : undefined)

/** The elements of a view. */
export function create(node: ViewNode, namespace?: string): Node {
  if (typeof node === 'string') return document.createTextNode(node)
  const own = node.tag === 'svg' ? svg : namespace
  const element = own === undefined ? document.createElement(node.tag) : document.createElementNS(own, node.tag)
  for (const [name, value] of attributesOf(node)) element.setAttribute(name, value)
  setStyle(element, node)
  for (const child of node.children) element.appendChild(create(child, own))
  return element
}

/** Set as properties, because the content security policy does not allow style attributes. */
function setStyle(element: Element, { attributes: { style } }: ViewElement): void {
  if (style === undefined) return
  for (const [name, value] of Object.entries(style)) (element as HTMLElement | SVGElement).style.setProperty(name, value)
}

function patchAttributes(element: Element, before: ViewElement, next: ViewElement): void {
  const wanted = new Map(attributesOf(next))
  for (const [name] of attributesOf(before)) if (!wanted.has(name)) element.removeAttribute(name)
  const had = new Map(attributesOf(before))
  // A slider that the reader has moved keeps its value.
  const isKept = (name: string) => name.startsWith('aria-value') && element.hasAttribute('data-moved')
  for (const [name, value] of wanted) if (had.get(name) !== value && !isKept(name)) element.setAttribute(name, value)
  if (JSON.stringify(before.attributes.style) !== JSON.stringify(next.attributes.style)) {
    element.removeAttribute('style')
    setStyle(element, next)
  }
}

/** Updates the elements of `before` to those of `next`. Children are compared by their keys, and without keys by position. */
function patch(node: Node, before: ViewNode, next: ViewNode): Node {
  if (before === next) return node
  if (typeof before === 'string' && typeof next === 'string') {
    node.nodeValue = next
    return node
  }
  if (typeof before === 'string' || typeof next === 'string' || before.tag !== next.tag) {
    const made = create(next, namespaceOf(node.parentElement))
    node.parentNode?.replaceChild(made, node)
    return made
  }
  patchAttributes(node as Element, before, next)
  patchChildren(node as Element, before.children, next.children)
  return node
}

/** A child that moves keeps its element, so that a picture in it is not loaded again. */
function patchChildren(element: Element, before: readonly ViewNode[], next: readonly ViewNode[]): void {
  const keyOf = (node: ViewNode, index: number) => (typeof node === 'object' ? node.attributes.key : undefined) ?? index
  const nodes = [...element.childNodes]
  const shown = new Map(before.map((view, index) => [keyOf(view, index), { view, node: nodes[index] }]))
  for (const [index, view] of next.entries()) {
    const key = keyOf(view, index)
    const old = shown.get(key)
    shown.delete(key)
    const child = old?.node === undefined ? create(view, namespaceOf(element)) : patch(old.node, old.view, view)
    if (element.childNodes[index] !== child) element.insertBefore(child, element.childNodes[index] ?? null)
  }
  while (element.childNodes.length > next.length) element.lastChild?.remove()
}

/** A place in the document that shows one view after another. */
export function createSlot(place: Element): (next: ViewElement) => void {
  let shown: { readonly node: Node; readonly view: ViewElement } | undefined
  return (view) => {
    const node = shown === undefined ? create(view) : patch(shown.node, shown.view, view)
    if (shown === undefined) place.replaceChildren(node)
    shown = { node, view }
  }
}

/** The place of the table of a chart, as `viewAsTable` leaves it; null while it is closed. */
export const openTable = (place: Element, name: string): Element | null =>
  place.querySelector(`[data-table="${name}"][open] > div`)

/** @throws Error if the page has no such element */
export function required<T extends Element = HTMLElement>(id: string): T {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`The page has no element "${id}".`)
  return element as unknown as T
}
