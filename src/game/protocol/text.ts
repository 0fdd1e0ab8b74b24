import { isRecord } from './is-record.ts'

/** Components that are nested deeper are ignored, so that a malicious reply cannot exhaust the stack. */
const maxDepth = 128
const maxArguments = 64
/** Limits the work: arguments can be used twice at each level, so that 60 levels would never end. */
const maxSteps = 20_000

/** Control characters except line feeds, and bidirectional formatting characters. */
const invisible = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu

/**
 * Removes formatting codes (`§` and the next character), control characters and bidirectional formatting characters, which could
 * reorder the surrounding text. Line breaks become `\n`, tabs become spaces.
 */
export function stripFormatting(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/§[^\n]?/gu, '')
    .replaceAll('\t', ' ')
    .replace(invisible, '')
}

/** The style of a piece of text, as codes after `§`: a colour (`c`, `#12ab34`) and formats (`l` bold, `o` italic ...). */
interface Style {
  readonly color: string
  readonly formats: string
}

/** The default colour without formats. */
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

/** Returns the style of a component inside one with the style `outer`. Invalid members are ignored. */
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
 * Converts a text component to text with formatting codes: `§c` etc., other colours as `§#12ab34`, `§r` between pieces of different
 * styles. Without the codes the text equals that of {@link plainText}.
 * @param limit maximum UTF-16 units of text, not counting codes
 */
export function formattedText(component: unknown, limit = 8_192): string {
  let last = unstyled
  // Codes inside a piece apply until its end.
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
 * Converts a text component to plain text (https://minecraft.wiki/w/Text_component_format): a string, an object with `text`,
 * `translate`, `keybind`, `score` or `selector` and nested `extra`, or an array. Anything else is converted to an empty string.
 * @param limit maximum UTF-16 units of the result; longer text is truncated
 */
export function plainText(component: unknown, limit = 8_192): string {
  const parts: string[] = []
  walkText(component, limit, (text) => parts.push(text))
  return stripFormatting(parts.join(''))
}

/** Calls `found` with each piece of text of a component, up to a total of `limit` UTF-16 units. */
function walkText(component: unknown, limit: number, found: (text: string, style: Style) => void): void {
  let remaining = limit
  let steps = maxSteps
  const add = (text: string, style: Style) => {
    if (remaining <= 0 || text === '') return
    found(text.slice(0, remaining), style)
    remaining -= text.length
  }
  const walk = (value: unknown, depth: number, style: Style): void => {
    if (remaining <= 0 || depth > maxDepth || steps-- <= 0) return
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
    // The newest versions may send the text under an empty key.
    const { text = value[''], translate, fallback, keybind, score, selector } = value
    if (typeof text === 'string' || typeof text === 'number' || typeof text === 'boolean') add(String(text), style)
    else if (typeof translate === 'string') {
      const args = Array.isArray(value.with) ? value.with.slice(0, maxArguments) : []
      addTranslated(typeof fallback === 'string' ? fallback : translate, args, depth, style)
    } else if (typeof keybind === 'string') add(keybind, style)
    else if (isRecord(score)) walk(score.value ?? '', depth + 1, style)
    else if (typeof selector === 'string') add(selector, style)
  }
  /** Inserts arguments for `%s`, `%d` and `%1$s`; `%%` is a percent sign. Only the client has translations, so keys are kept. */
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
