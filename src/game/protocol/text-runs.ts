/** A piece of text in one style. */
export interface TextRun {
  readonly text: string
  /** The code of one of the 16 colours (`0` to `f`), or `#rrggbb`; absent for the default colour. */
  readonly color?: string
  /** Format codes: `l` bold, `o` italic, `n` underlined, `m` strikethrough, `k` obfuscated. */
  readonly formats: string
}

/** Maximum number of pieces; a message in which each letter has its own colour has about a hundred. */
export const maxTextRuns = 200

/** Colours of the Bedrock edition only (https://minecraft.wiki/w/Formatting_codes). */
const bedrockColors: Readonly<Record<string, string>> = {
  g: '#ddd605',
  h: '#e3d4d1',
  i: '#cecaca',
  j: '#443a3b',
  p: '#deb12d',
  q: '#47a036',
  s: '#2cbaa8',
  t: '#21497b',
  u: '#9a5cc6',
}

/** `§#12ab34`, `§x§1§2§a§b§3§4` (as sent by servers), or `§` and one character. */
const code = /§(?:#([0-9a-f]{6})|x((?:§[0-9a-f]){6})|([^\n]))/giu

/**
 * Splits a text with formatting codes into pieces of one style each. As in the Java edition, a colour resets the formats. Unknown
 * codes are ignored. Line breaks are kept. The text after the first {@link maxTextRuns} pieces is dropped, visible or not: each piece
 * costs time wherever it is shown.
 */
export function parseTextRuns(text: string): readonly TextRun[] {
  const runs: TextRun[] = []
  let color: string | undefined
  let formats = ''
  const add = (piece: string) => {
    const plain = piece.replaceAll('§', '')
    if (plain !== '') runs.push({ text: plain, formats, ...(color !== undefined && { color }) })
  }
  let from = 0
  for (const match of text.matchAll(code)) {
    add(text.slice(from, match.index))
    if (runs.length === maxTextRuns) return runs
    from = match.index + match[0].length
    const [, hex, spaced, single = ''] = match
    const letter = single.toLowerCase()
    const own = hex ?? spaced?.replaceAll('§', '')
    if (own !== undefined) [color, formats] = [`#${own.toLowerCase()}`, '']
    else if (/[0-9a-f]/.test(letter)) [color, formats] = [letter, '']
    else if (bedrockColors[letter] !== undefined) [color, formats] = [bedrockColors[letter], '']
    else if (letter === 'r') [color, formats] = [undefined, '']
    else if (/[klmno]/.test(letter) && !formats.includes(letter)) formats += letter
  }
  add(text.slice(from))
  return runs
}
