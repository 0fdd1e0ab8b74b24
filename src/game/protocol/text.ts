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

/**
 * A text component as plain text (https://minecraft.wiki/w/Text_component_format): a string, an object with `text`,
 * `translate`, `keybind`, `score` or `selector` and nested `extra`, or a list. What is no component is the empty string.
 * @param limit most UTF-16 units of the result; what is beyond is cut off
 */
export function plainText(component: unknown, limit = 8_192): string {
  const parts: string[] = []
  let left = limit
  let steps = maxSteps
  const add = (text: string) => {
    if (left <= 0 || text === '') return
    parts.push(text.slice(0, left))
    left -= text.length
  }
  const walk = (value: unknown, depth: number): void => {
    if (left <= 0 || depth > maxDepth || steps-- <= 0) return
    if (typeof value === 'string') add(value)
    else if (typeof value === 'number' || typeof value === 'boolean') add(String(value))
    else if (Array.isArray(value)) {
      for (const item of value) walk(item, depth + 1)
    } else if (isRecord(value)) {
      addContent(value, depth)
      if (Array.isArray(value.extra)) walk(value.extra, depth + 1)
    }
  }
  const addContent = (value: Readonly<Record<string, unknown>>, depth: number): void => {
    // Compact forms of the newest versions write the text under the empty key.
    const { text = value[''], translate, fallback, keybind, score, selector } = value
    if (typeof text === 'string' || typeof text === 'number' || typeof text === 'boolean') add(String(text))
    else if (typeof translate === 'string') {
      const args = Array.isArray(value.with) ? value.with.slice(0, maxArguments) : []
      addTranslated(typeof fallback === 'string' ? fallback : translate, args, depth)
    } else if (typeof keybind === 'string') add(keybind)
    else if (isRecord(score)) walk(score.value ?? '', depth + 1)
    else if (typeof selector === 'string') add(selector)
  }
  /** Arguments go where the text has `%s`, `%d` or `%1$s`; `%%` is a percent sign. Translations are the client's, so a key stays itself. */
  const addTranslated = (pattern: string, args: readonly unknown[], depth: number): void => {
    let next = 0
    for (const piece of pattern.slice(0, limit).split(/(%%|%(?:\d{1,3}\$)?[sd])/)) {
      const place = /^%(?:(\d{1,3})\$)?[sd]$/.exec(piece)
      if (place) walk(args[place[1] === undefined ? next++ : Number(place[1]) - 1] ?? '', depth + 1)
      else add(piece === '%%' ? '%' : piece)
    }
  }
  walk(component, 0)
  return stripFormatting(parts.join(''))
}
