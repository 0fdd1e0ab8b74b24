import { decode as decodeEntities } from 'html-entities'
import type { Token } from 'marked'

/** What a table cell says, without its markup. */
export interface Cell {
  readonly text: string
  /** Where its links lead, as written but for entities. */
  readonly links: readonly string[]
}

export const emptyCell: Cell = { text: '', links: [] }

/** Entities end with a semicolon here: `&copy=1` and `&region=kr` in a link are parameters. */
const decode = (text: string): string => decodeEntities(text, { scope: 'strict' })

/** Stands for an asterisk of the source that may be markup. No text holds it: Markdown forbids it. */
const bareAsterisk = '\0'

/** Text of the source: an asterisk that is written as such may be markup, one that is escaped or an entity is meant. */
const decodeSource = (source: string): string => decode(source.replaceAll(bareAsterisk, '').replaceAll('*', bareAsterisk))

/** The text that a reader of the page sees; the site shows HTML as it is written: `<Title>` is a title. */
function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'br') return ' '
      if (token.type === 'escape') return token.text
      if (token.type === 'codespan') return decode(token.text)
      if ('tokens' in token && token.tokens !== undefined) return textOf(token.tokens)
      // The parser decodes some entities in the text of a token, but none in its source.
      if (token.type === 'text' || token.type === 'html') return decodeSource(token.raw)
      return decodeSource('text' in token && typeof token.text === 'string' ? token.text : token.raw)
    })
    .join('')
}

/** `\)` in a link: the parser leaves the backslash. */
const escaped = /\\([!-/:-@[-`{-~])/g

function linksOf(tokens: readonly Token[]): readonly string[] {
  return tokens.flatMap((token) => {
    if (token.type === 'link' && typeof token.href === 'string') return [decode(token.href).replace(escaped, '$1').trim()]
    return 'tokens' in token && token.tokens !== undefined ? linksOf(token.tokens) : []
  })
}

/** Asterisks that the parser could not pair: `**IU*`. */
const strayEmphasis = /^\0+|\0+$/g

export function readCell(tokens: readonly Token[]): Cell {
  const text = textOf(tokens).replace(/\s+/g, ' ').trim()
  // A name may be made of asterisks alone, or be censored with them in the middle; only the ends are markup.
  const bare = text.replace(strayEmphasis, '').trim()
  return {
    text: (bare === '' ? text : bare).replaceAll(bareAsterisk, '*'),
    links: linksOf(tokens).filter((link) => link !== ''),
  }
}
