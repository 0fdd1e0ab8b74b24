import fc from 'fast-check'
import { decode } from 'html-entities'
import { markdownWiki } from 'snudown-js'
import { expect, it } from 'vitest'
import { readTables } from '../../../../src/data/scripts/kcomebacks/tables.ts'

const head = '|Day|Time|Artist|Album Title|Album Type|Title Track|Streaming\n|--|--|--|--|--|--|--'

/** The text that Reddit displays for the only row of a page, without asterisks at the ends of a cell. */
const shownByReddit = (row: string): readonly string[] =>
  [...markdownWiki(`${head}\n${row}\n`).matchAll(/<td(?: colspan="\d")?\s*>([\s\S]*?)<\/td>/g)].map(([, html = '']) =>
    normalise(decode(html.replace(/<[^>]*>/g, ''))),
  )

/** Stray asterisks at the ends are dropped by Tickwarden only, and white space is collapsed by browsers. */
const normalise = (text: string): string =>
  text.replace(/[\s\u0085]+/g, ' ').replace(/^[\s*\u200b\u00a0]+|[\s*\u200b\u00a0]+$/g, '')

it('reads mutated rows as Reddit displays them', () => {
  const rows = [
    '|1st|18:00|*IU*|*Love Poem*|5th Mini Album|[Blueming](/dxxxx1)|[Spotify](https://s.to/1) / [Apple Music](https://a.to/2)',
    '|||**(G)I-DLE**|<HELLO MONSTERS> IN JAPAN ~2025.04.13~|Digital Single|[You &amp; I](/d1)|',
    '||?|IZ ONE|[If I am with you, it`s always spring](/x)|~~Full-Length Album~~||https://open.s.to/a_b_c',
    '|2^nd|6 PM|_A_ (feat. __B__)|a&#124;b "c" \'d\' (c) ...|OST|`code` x|[S](//s.to)/[Y](https://y.to/?a=1&b=2)',
  ]
  const piece = fc.oneof(
    fc.constantFrom(
      ...['|', '\\', '\\|', '`', '``', '~', '~~', '*', '**', '_', '[', ']', '](', '](/a)', '(', ')', '!', '^', '^(', '<', '>'],
      ...['&amp;', '&', '&#124;', '<br>', '<b>', ' ', '\u00a0', '\u200b', '\u2028', '\u2029', '\u0085', '\t', '#', 'r/kpop', '"'],
      ...['https://a.to/', '가', '🎀'],
    ),
    fc.string({ unit: 'grapheme-ascii', maxLength: 3 }),
  )
  const mutation = fc.record({ at: fc.nat(200), drop: fc.nat(3), piece })
  fc.assert(
    fc.property(fc.constantFrom(...rows), fc.array(mutation, { maxLength: 6 }), (row, mutations) => {
      const mutated = mutations.reduce(
        (text, { at, drop, piece }) => text.slice(0, 1 + at) + piece + text.slice(1 + at + drop),
        row,
      )
      // Half of an emoji makes the renderer stop.
      const source = mutated.replace(/\p{Surrogate}/gu, '').trimEnd()
      // Escaped asterisks are marked before they are rendered, and HTML tables within a cell are not rows.
      fc.pre(!/\\\*|<\/?(?:t[rdh]|table|thead|tbody)/i.test(source) && source.startsWith('|'))
      const [table] = readTables(`${head}\n${source}\n`).tables
      const cells = table?.rows[0]?.cells.slice(0, 7).map(({ text }) => normalise(text)) ?? []
      const shown = shownByReddit(source)
      expect(cells.concat(Array(7).fill('')).slice(0, shown.length)).toEqual(shown)
    }),
    { numRuns: 3000 },
  )
})
