import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readMonthPage } from '../../../../src/data/scripts/kcomebacks/page.ts'

const february = '2024-02'
const head = '|Day|Time|Artist|Album Title|Album Type|Title Track|Streaming\n|--|--|--|--|--|--|--\n'

it('turns every row into one entry or report, and never throws', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '1st',
      '18:00',
      'TBA',
      '?',
      '*IU*',
      '**',
      '[a](/b)',
      '\\|',
      '|',
      '&amp;',
      '`',
      '<b>',
      '~~',
      '](',
      'https://a',
      '---',
      '\\',
      '#',
      '\t',
      ' ',
    ),
    fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => text.replace(/[\r\n]/g, '')),
  )
  const row = fc.array(piece, { maxLength: 14 }).map((pieces) => `|${pieces.join('')}`)
  const block = fc.record({
    heading: fc.constantFrom(
      '',
      '### Scheduled Releases:\n\n',
      '###OST\n\n',
      'Text\n\n',
      '```\n',
      '> quote\n',
      '- list\n',
      '<div>\n',
    ),
    header: fc.constantFrom(head, '|Artist|Album|\n|-|-|\n', '|Day|Artist|\n|-|-|-|-|\n', ''),
    rows: fc.array(row, { maxLength: 8 }),
  })
  fc.assert(
    fc.property(fc.array(block, { maxLength: 4 }), fc.constantFrom('\n', '\r\n'), (blocks, end) => {
      const text = blocks.map(({ heading, header, rows }) => `${heading}${header}${rows.join('\n')}\n\n`).join('')
      const lines = text.split('\n')
      const { entries, reports, leftOut } = readMonthPage(text.replaceAll('\n', end), february)
      const reported = [...reports, ...leftOut]
      // Every reported line is a row of the page, and is reported once.
      expect(new Set(reported.map(({ line }) => line)).size).toBe(reported.length)
      for (const { line } of reported) expect(lines[line - 1]).toMatch(/^\s*\|/)
      const bars = lines.filter((line) => line.startsWith('|'))
      expect(entries.length + reported.length).toBeLessThanOrEqual(bars.length)
      // A row made of dashes may make the one above it a header.
      const dashes = bars.filter((line) => /^[|\s:-]*-[|\s:-]*$/.test(line)).length
      const headers = blocks.filter(({ header }) => header !== '').length
      if (dashes === headers) {
        expect(entries.length + reported.length).toBe(bars.length - 2 * headers)
      }
    }),
    { numRuns: 1500 },
  )
})

it('accepts any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      readMonthPage(text, february)
      readMonthPage(head + text, february)
    }),
    { numRuns: 1500 },
  )
})
