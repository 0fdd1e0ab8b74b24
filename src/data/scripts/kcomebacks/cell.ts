import { decode } from 'html-entities'
import { Parser } from 'htmlparser2'
import { markdownWiki } from 'snudown-js'

export interface Cell {
  readonly text: string
  /** Targets of its links, as written except for entities and percent-encoding. */
  readonly links: readonly string[]
  readonly isStruck?: true
}

export const emptyCell: Cell = { text: '', links: [] }

/** Placeholder for a literal asterisk: a noncharacter, which is removed from the source first. */
const literalAsterisk = '\ufdd0'
/** The same in the target of a link. */
const encodedAsterisk = encodeURIComponent(literalAsterisk)
const asteriskEntity = /&(?:#42|#x2a|ast|midast);/gi

/**
 * Replaces literal asterisks by the placeholder: all others are markup if they pair, and at the ends of a text even if they do
 * not. The renderer drops NUL, and lone surrogates make it misread the text after them.
 */
const markAsterisks = (source: string): string =>
  source
    .replace(/[\0\ufdd0]/g, '')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/\\(.)/g, (pair, escaped) => (escaped === '*' ? literalAsterisk : pair))
    .replace(asteriskEntity, literalAsterisk)

interface OpenCell {
  text: string
  /** What is not struck out. */
  plain: string
  readonly links: string[]
}

/** The cells of the only body row in the renderer's HTML. */
function parseRow(html: string): readonly OpenCell[] {
  const cells: OpenCell[] = []
  let open: OpenCell | undefined
  let [code, struck] = [0, 0]
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'td') {
        open = { text: '', plain: '', links: [] }
        cells.push(open)
      }
      if (name === 'code') code++
      if (name === 'del') struck++
      if (attributes.href !== undefined) open?.links.push(attributes.href)
    },
    ontext(text) {
      if (open === undefined) return
      open.text += code > 0 ? text.replaceAll('*', literalAsterisk) : text
      if (struck === 0) open.plain += text
    },
    onclosetag(name) {
      if (name === 'code') code--
      if (name === 'del') struck--
    },
  })
  parser.end(html)
  return cells
}

/** JavaScript does not treat U+0085 and the zero-width characters as white space. */
const edges =
  /^[\s\u0085\u200b-\u200f\u2060\ufeff]+|(?<![\s\u0085\u200b-\u200f\u2060\ufeff])[\s\u0085\u200b-\u200f\u2060\ufeff]+$/g
const trim = (text: string): string => text.replace(edges, '')

/** Asterisks that the renderer left unpaired: `**IU*`. */
const strayEmphasis = /^\*+|(?<!\*)\*+$/g

function toCell({ text, plain, links }: OpenCell): Cell {
  const isStruck = trim(plain) === '' && trim(text) !== ''
  const whole = trim(text.replace(/[\s\u0085]+/g, ' '))
  // A name may consist of asterisks, or be censored with them in the middle: only those at the ends are markup.
  const bare = trim(whole.replace(strayEmphasis, ''))
  return {
    text: (bare === '' ? whole : bare).replaceAll(literalAsterisk, '*'),
    // `&amp;` in a URL always means `&`. Strict, because `&copy=1` and `&region=kr` are parameters: no semicolon.
    ...(isStruck && { isStruck }),
    links: links.map((link) => decode(link, { scope: 'strict' }).replaceAll(encodedAsterisk, '*').trim()),
  }
}

/**
 * Renders the cells of one table row with Reddit's own renderer, so that the result matches the site.
 * @param sources Markdown of the cells, without the bars between them; one line
 * @param definitions lines of the page that define links for `[text][name]`
 */
export function renderCells(sources: readonly string[], definitions: readonly string[] = []): readonly Cell[] {
  // To render a row without text takes as long as one of many words.
  if (sources.every((source) => trim(source) === '')) return sources.map(() => emptyCell)
  const row = (cell: (source: string) => string) => `|${sources.map(cell).join('|')}|`
  const table = [row(() => 'x'), row(() => '-'), row(markAsterisks), '', ...definitions].join('\n')
  const cells = parseRow(markdownWiki(table))
  return sources.map((_, index) => {
    const cell = cells[index]
    return cell === undefined ? emptyCell : toCell(cell)
  })
}
