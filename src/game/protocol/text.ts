import { isRecord } from './is-record.ts'

/** Components nested deeper than this are left out, so that a hostile reply cannot exhaust the stack. */
const maxDepth = 128
const maxArguments = 64
/** Arguments may be used twice at every level: without a bound on the work, 60 levels would never end. */
const maxSteps = 20_000

/** Control characters but for the line feed, and the characters that embed, override or isolate a writing direction. */
const invisible = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu

/**
 * Removes formatting codes (`§` and the character after it), control characters and changes of the writing direction, which
 * could reorder the text around it. Line breaks stay, as `\n`; a tab becomes a space.
 */
export function stripFormatting(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/§[^\n]?/gu, '')
    .replaceAll('\t', ' ')
    .replace(invisible, '')
}

/** How a piece of text looks, as codes after `§`: a colour (`c`, `#12ab34`) and formats (`l` bold, `o` italic ...). */
interface Style {
  readonly color: string
  readonly formats: string
}

/** Where nothing is said: the reader's own colour. */
const unstyled: Style = { color: '', formats: '' }

const colorCodes: Readonly<Record<string, string>> = {
  black: '0',
  dark_blue: '1',
  dark_green: '2',
  dark_aqua: '3',
  dark_red: '4',
  dark_purple: '5',
  gold: '6',
  gray: '7',
  dark_gray: '8',
  blue: '9',
  green: 'a',
  aqua: 'b',
  red: 'c',
  light_purple: 'd',
  yellow: 'e',
  white: 'f',
}
const formatCodes: Readonly<Record<string, string>> = {
  obfuscated: 'k',
  bold: 'l',
  strikethrough: 'm',
  underlined: 'n',
  italic: 'o',
}

/** The style of a component within one of `outer`; a member of another form is as if absent. */
function styleOf(value: Record<string, unknown>, outer: Style): Style {
  const { color } = value
  const named = typeof color === 'string' ? (colorCodes[color] ?? /^#[0-9a-f]{6}$/i.exec(color)?.[0].toLowerCase()) : undefined
  let { formats } = outer
  for (const [name, code] of Object.entries(formatCodes)) {
    if (value[name] === true && !formats.includes(code)) formats += code
    else if (value[name] === false) formats = formats.replace(code, '')
  }
  return named === undefined && formats === outer.formats ? outer : { color: named ?? outer.color, formats }
}

const codesOf = ({ color, formats }: Style): string => [color, ...formats].map((code) => (code === '' ? '' : `§${code}`)).join('')

/**
 * A text component with its formatting as codes: `§c` and the like, other colours as `§#12ab34`, `§r` between pieces of
 * different style. Its plain text is that of {@link plainText}.
 * @param limit maximum UTF-16 units of text, codes not counted
 */
export function formattedText(component: unknown, limit = 8_192): string {
  let last = unstyled
  // Codes within a piece hold to its end.
  let hasOwnCodes = false
  const parts: string[] = []
  walkText(component, limit, (text, style) => {
    const reset = parts.length === 0 ? '' : '§r'
    parts.push(style === last && !hasOwnCodes ? text : `${reset}${codesOf(style)}${text}`)
    last = style
    hasOwnCodes = text.includes('§')
  })
  return parts.join('').replace(/\r\n?/g, '\n')
}

/**
 * A text component as plain text (https://minecraft.wiki/w/Text_component_format): a string, an object with `text`,
 * `translate`, `keybind`, `score` or `selector` and nested `extra`, or a list. What is no component is the empty string.
 * @param limit most UTF-16 units of the result; what is beyond is cut off
 */
export function plainText(component: unknown, limit = 8_192): string {
  const parts: string[] = []
  walkText(component, limit, (text) => parts.push(text))
  return stripFormatting(parts.join(''))
}

/** Calls `found` with each piece of text of a component, at most `limit` UTF-16 units in all. */
function walkText(component: unknown, limit: number, found: (text: string, style: Style) => void): void {
  let left = limit
  let steps = maxSteps
  const add = (text: string, style: Style) => {
    if (left <= 0 || text === '') return
    found(text.slice(0, left), style)
    left -= text.length
  }
  const walk = (value: unknown, depth: number, style: Style): void => {
    if (left <= 0 || depth > maxDepth || steps-- <= 0) return
    if (typeof value === 'string') add(value, style)
    else if (typeof value === 'number' || typeof value === 'boolean') add(String(value), style)
    else if (Array.isArray(value)) {
      for (const item of value) walk(item, depth + 1, style)
    } else if (isRecord(value)) {
      const own = styleOf(value, style)
      addContent(value, depth, own)
      if (Array.isArray(value.extra)) walk(value.extra, depth + 1, own)
    }
  }
  const addContent = (value: Readonly<Record<string, unknown>>, depth: number, style: Style): void => {
    // Compact forms of the newest versions write the text under the empty key.
    const { text = value[''], translate, fallback, keybind, score, selector } = value
    if (typeof text === 'string' || typeof text === 'number' || typeof text === 'boolean') add(String(text), style)
    else if (typeof translate === 'string') {
      const args = Array.isArray(value.with) ? value.with.slice(0, maxArguments) : []
      addTranslated(typeof fallback === 'string' ? fallback : translate, args, depth, style)
    } else if (typeof keybind === 'string') add(keybind, style)
    else if (isRecord(score)) walk(score.value ?? '', depth + 1, style)
    else if (typeof selector === 'string') add(selector, style)
  }
  /** Arguments go where the text has `%s`, `%d` or `%1$s`; `%%` is a percent sign. Translations are the client's, so a key stays itself. */
  const addTranslated = (pattern: string, args: readonly unknown[], depth: number, style: Style): void => {
    let next = 0
    for (const piece of pattern.slice(0, limit).split(/(%%|%(?:\d{1,3}\$)?[sd])/)) {
      const place = /^%(?:(\d{1,3})\$)?[sd]$/.exec(piece)
      if (place) walk(args[place[1] === undefined ? next++ : Number(place[1]) - 1] ?? '', depth + 1, style)
      else add(piece === '%%' ? '%' : piece, style)
    }
  }
  walk(component, 0, unstyled)
}
