/**
 * Characters without a look of their own that change how other text looks or is read: controls, marks and overrides of the
 * writing direction, zero-width characters, tags. Line breaks and tabs become spaces.
 */
const invisible = /[\p{Cc}\p{Cf}\u2028\u2029]|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0|[\ufe00-\ufe0f]/gu

/** A name or text of a game server or player as one line that can be shown beside others. */
export function cleanText(text: string): string {
  return text
    .replace(/[\n\r\t\u2028\u2029]+/g, ' ')
    .replace(invisible, '')
    .replace(/\p{Surrogate}/gu, '\ufffd')
}

/** A name; something to see where nothing of it is left. */
export const cleanName = (text: string): string => cleanText(text).trim() || '\ufffd'
