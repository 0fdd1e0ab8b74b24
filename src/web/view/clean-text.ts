/**
 * Invisible characters that change how other text is displayed: controls, marks and overrides of the writing direction,
 * zero-width characters, tags. Line breaks and tabs become spaces.
 */
const invisible = /[\p{Cc}\p{Cf}\u2028\u2029]|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0|[\ufe00-\ufe0f]/u

/** An emoji, with the variation selector that shows it in colour, and the joiner to the next part, as in a family. */
const emoji = /\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?(?:\u200d(?=\p{Extended_Pictographic}))?/u

/** A letter of a script whose words are spelled with joiners, such as Persian and Hindi. */
const spelled =
  /[\p{scx=Arab}\p{scx=Beng}\p{scx=Deva}\p{scx=Gujr}\p{scx=Guru}\p{scx=Knda}\p{scx=Mlym}\p{scx=Orya}\p{scx=Sinh}\p{scx=Taml}\p{scx=Telu}]/u
/** A joiner within such a word. In other words it only makes names look equal. */
const joiner = new RegExp(`${spelled.source}[\u200c\u200d](?=\\p{L})(?=${spelled.source})`, 'u')

/** What is kept, as a group, or an invisible character. */
const keptOrInvisible = new RegExp(`(${emoji.source}|${joiner.source})|${invisible.source}`, 'gu')

/** More marks than a letter of any script has: they would cover what is above and below. */
const manyMarks = /(\p{M}{8})\p{M}+/gu

/** A name or text of a game server or player as one line that is safe to show next to others. */
export function cleanText(text: string): string {
  return text
    .replace(/[\n\r\t\u2028\u2029]+/g, ' ')
    .replace(keptOrInvisible, '$1')
    .replace(manyMarks, '$1')
    .replace(/\p{Surrogate}/gu, '\ufffd')
}

/** A name, with a placeholder if it has no visible characters. */
export const cleanName = (text: string): string => cleanText(text).trim() || '\ufffd'
