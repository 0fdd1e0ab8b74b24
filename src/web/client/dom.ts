import { attributesOf, type ViewElement, type ViewNode } from '../view/node.ts'

const svg = 'http://www.w3.org/2000/svg'

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

const keyOf = (node: ViewNode | undefined) => (typeof node === 'object' ? node.attributes.key : undefined)

/** Keeps the elements of children with the same key, so that a picture in them is not loaded again when they move. */
function patchKeyed(element: Element, before: ViewElement, next: ViewElement): Node {
  const nodes = [...element.childNodes]
  const shown = new Map(before.children.map((view, index) => [keyOf(view) ?? index, { view, node: nodes[index] }]))
  for (const [index, view] of next.children.entries()) {
    const key = keyOf(view) ?? index
    const old = shown.get(key)
    shown.delete(key)
    const child = old?.node === undefined ? create(view) : patch(old.node, old.view, view)
    if (element.childNodes[index] !== child) element.insertBefore(child, element.childNodes[index] ?? null)
  }
  while (element.childNodes.length > next.children.length) element.lastChild?.remove()
  return element
}

/** Updates the elements of `before` to those of `next`; children are compared by position unless they have keys. */
export function patch(node: Node, before: ViewNode, next: ViewNode): Node {
  if (before === next) return node
  if (typeof before === 'string' || typeof next === 'string' || before.tag !== next.tag) {
    if (typeof before === 'string' && typeof next === 'string') {
      node.nodeValue = next
      return node
    }
    const made = create(next, node.parentElement?.namespaceURI === svg ? svg : undefined)
    node.parentNode?.replaceChild(made, node)
    return made
  }
  patchAttributes(node as Element, before, next)
  if (keyOf(next.children[0]) !== undefined) return patchKeyed(node as Element, before, next)
  const shared = Math.min(before.children.length, next.children.length)
  for (let index = 0; index < shared; index++) {
    const [child, old, wanted] = [node.childNodes[index], before.children[index], next.children[index]]
    if (child !== undefined && old !== undefined && wanted !== undefined) patch(child, old, wanted)
  }
  while (node.childNodes.length > shared && node.lastChild !== null) node.removeChild(node.lastChild)
  const namespace = (node as Element).namespaceURI === svg ? svg : undefined
  for (const child of next.children.slice(shared)) node.appendChild(create(child, namespace))
  return node
}

/** A place in the document that shows one view after another. */
export function createSlot(place: Element): (next: ViewElement) => void {
  let shown: { readonly node: Node; readonly view: ViewElement } | undefined
  return (next) => {
    if (shown === undefined) {
      const node = create(next)
      place.replaceChildren(node)
      shown = { node, view: next }
    } else shown = { node: patch(shown.node, shown.view, next), view: next }
  }
}

/** @throws Error if the page has no such element */
export function required<T extends Element = HTMLElement>(id: string): T {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`The page has no element "${id}".`)
  return element as unknown as T
}
