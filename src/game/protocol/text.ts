import { isRecord } from '../../util/is-record.ts'

/** Components that are nested deeper are ignored, so that a malicious reply cannot exhaust the stack. */
const maxDepth = 128
/** Maximum UTF-16 units of a text, not counting the codes that are added for styles. Longer text is truncated. */
const maxLength = 8_192
/**
 * Maximum work for the components of one reply: one unit for each component, each piece of a pattern, each character read and each
 * character of a code. Few replies of 32,767 characters, the most that the game accepts, could need more.
 */
const maxWork = 65_536

/** Control characters except line feeds, and bidirectional formatting characters. */
const invisible = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu

/**
 * Removes formatting codes (`§` and the next character), control characters and bidirectional formatting characters, which could
 * reorder the surrounding text. Line breaks become `\n`, tabs become spaces. Half of a surrogate pair becomes U+FFFD.
 * Text after the first 8,192 UTF-16 units is removed.
 */
export function stripFormatting(text: string): string {
  return toWellFormed(truncate(text, maxLength))
    .replace(/\r\n?/g, '\n')
    .replace(/§[^\n]?/gu, '')
    .replaceAll('\t', ' ')
    .replace(invisible, '')
}

/** Replaces half of a surrogate pair, which not every JSON parser accepts, by U+FFFD. */
export const toWellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd')

/** A copy, because a slice would keep the whole text in memory. */
export const truncate = (text: string, length: number): string =>
  text.length <= length ? text : Buffer.from(text.slice(0, length), 'utf16le').toString('utf16le')

/** The style of a piece of text, as codes after `§`: a colour (`c`, `#12ab34`) and formats (`l` bold, `o` italic ...). */
interface Style {
  readonly color: string
  readonly formats: string
}

/** The default colour without formats. */
const unstyled: Style = { color: '', formats: '' }

/** A Map, because a server may send any name, such as `constructor`. */
const colorCodes: ReadonlyMap<unknown, string> = new Map([
  ['black', '0'],
  ['dark_blue', '1'],
  ['dark_green', '2'],
  ['dark_aqua', '3'],
  ['dark_red', '4'],
  ['dark_purple', '5'],
  ['gold', '6'],
  ['gray', '7'],
  ['dark_gray', '8'],
  ['blue', '9'],
  ['green', 'a'],
  ['aqua', 'b'],
  ['red', 'c'],
  ['light_purple', 'd'],
  ['yellow', 'e'],
  ['white', 'f'],
])
const formatCodes = [
  ['obfuscated', 'k'],
  ['bold', 'l'],
  ['strikethrough', 'm'],
  ['underlined', 'n'],
  ['italic', 'o'],
] as const

/** Returns the style of a component inside one with the style `outer`. Invalid members are ignored. */
function styleOf(value: Record<string, unknown>, outer: Style): Style {
  const { color } = value
  const hex = typeof color === 'string' && /^#[0-9a-f]{6}$/i.test(color) ? color.toLowerCase() : undefined
  const named = hex ?? colorCodes.get(color)
  let { formats } = outer
  for (const [name, code] of formatCodes) {
    if (value[name] === true && !formats.includes(code)) formats += code
    else if (value[name] === false) formats = formats.replace(code, '')
  }
  return named === undefined && formats === outer.formats ? outer : { color: named ?? outer.color, formats }
}

const codesOf = ({ color, formats }: Style): string => [color, ...formats].map((code) => (code === '' ? '' : `§${code}`)).join('')

/** The text of one component. */
export interface ComponentText {
  /** Without formatting codes. */
  readonly plain: string
  /**
   * With formatting codes: `§c` etc., other colours as `§#12ab34`, `§r` between pieces of different styles. Equals `plain` if the
   * codes are removed.
   */
  readonly formatted: string
}

/**
 * Converts text components (https://minecraft.wiki/w/Text_component_format) to text: a string, an object with `text`, `translate`,
 * `keybind`, `score` or `selector` and nested `extra`, or an array. Anything else is converted to empty strings.
 * @param limit maximum UTF-16 units, not counting codes; longer text is truncated
 */
export type TextReader = (component: unknown, limit?: number) => ComponentText

/** Creates a reader for the components of one reply, which share a limit of the work: text after it is omitted. */
export function createTextReader(): TextReader {
  const budget = { left: maxWork }
  return (component, limit = maxLength) => {
    const walk = new Walk(budget, limit)
    walk.read(component, 0, unstyled)
    return walk.result()
  }
}

/** The text of the only component of a reply, without formatting codes; see {@link TextReader}. */
export const plainText = (component: unknown, limit?: number): string => createTextReader()(component, limit).plain

/** Collects the text of one component. Each method returns false once the rest is omitted. */
class Walk {
  readonly #budget: { left: number }
  /** Remaining UTF-16 units of text. */
  #room: number
  readonly #texts: string[] = []
  readonly #formatted: string[] = []
  #last = unstyled
  /** Codes inside a piece apply until its end. */
  #hasOwnCodes = false

  constructor(budget: { left: number }, limit: number) {
    this.#budget = budget
    this.#room = limit
  }

  result(): ComponentText {
    return {
      plain: stripFormatting(this.#texts.join('')),
      formatted: this.#formatted.join('').replace(/\r\n?/g, '\n'),
    }
  }

  read(value: unknown, depth: number, style: Style): boolean {
    if (!this.#spend(1)) return false
    if (depth > maxDepth) return true
    if (typeof value === 'string') return this.#add(value, style)
    if (typeof value === 'number' || typeof value === 'boolean') return this.#add(String(value), style)
    if (Array.isArray(value)) return value.every((item) => this.read(item, depth + 1, style))
    if (!isRecord(value)) return true
    const own = styleOf(value, style)
    return this.#addContent(value, depth, own) && (!Array.isArray(value.extra) || this.read(value.extra, depth + 1, own))
  }

  #addContent(value: Readonly<Record<string, unknown>>, depth: number, style: Style): boolean {
    // The newest versions may send the text under an empty key.
    const { text = value[''], translate, fallback, keybind, score, selector } = value
    if (typeof text === 'string' || typeof text === 'number' || typeof text === 'boolean') return this.#add(String(text), style)
    if (typeof translate === 'string') {
      const pattern = typeof fallback === 'string' ? fallback : translate
      return this.#addTranslated(pattern, Array.isArray(value.with) ? value.with : [], depth, style)
    }
    if (typeof keybind === 'string') return this.#add(keybind, style)
    if (isRecord(score)) return this.read(score.value, depth + 1, style)
    return typeof selector !== 'string' || this.#add(selector, style)
  }

  /** Inserts arguments for `%s`, `%d` and `%1$s`; `%%` is a percent sign. Only the client has translations, so keys are kept. */
  #addTranslated(pattern: string, args: readonly unknown[], depth: number, style: Style): boolean {
    let next = 0
    let from = 0
    for (const { 0: place, 1: number, index } of pattern.matchAll(/%%|%(?:(\d{1,3})\$)?[sd]/g)) {
      if (!this.#add(pattern.slice(from, index), style)) return false
      from = index + place.length
      const isAdded =
        place === '%%'
          ? this.#add('%', style)
          : this.read(args[number === undefined ? next++ : Number(number) - 1], depth + 1, style)
      if (!isAdded || !this.#spend(place.length)) return false
    }
    return this.#add(pattern.slice(from), style)
  }

  #add(text: string, style: Style): boolean {
    const piece = toWellFormed(truncate(text, Math.min(this.#room, this.#budget.left)))
    if (piece === '') return this.#room > 0
    const isSame = style === this.#last && !this.#hasOwnCodes
    const codes = isSame ? '' : `${this.#texts.length === 0 ? '' : '§r'}${codesOf(style)}`
    this.#room -= piece.length
    this.#texts.push(piece)
    this.#formatted.push(codes + piece)
    this.#last = style
    this.#hasOwnCodes = piece.includes('§')
    return this.#spend(piece.length + codes.length) && this.#room > 0
  }

  /** Returns whether more work may be done. */
  #spend(work: number): boolean {
    this.#budget.left -= work
    return this.#budget.left > 0
  }
}
