import { expect, it } from 'vitest'
import { renderCells } from '../../../../src/data/scripts/kcomebacks/cell.ts'

const one = (source: string, ...definitions: readonly string[]) => renderCells([source], definitions)[0]

it.each([
  ['IU', 'IU'],
  ['  IU  ', 'IU'],
  ['\u200bIU\u0085\ufeff', 'IU'],
  ['a \t  b', 'a b'],
  ['a\u0085\u0085b', 'a b'],
  ['*IU*', 'IU'],
  ['**IU*', 'IU'],
  ['*IU**', 'IU'],
  ['***', '***'],
  ['F**k', 'F**k'],
  ['\\*IU\\*', '*IU*'],
  ['&#42;IU&ast;', '*IU*'],
  ['&#x2A;&midast;', '**'],
  ['a\\_b', 'a_b'],
  ['`*a*`', '*a*'],
  ['`a` **b**', 'a b'],
  ['**b** `*`', 'b *'],
  ['a\0b\ufdd0c', 'abc'],
  ['a\ud800b', 'a\ufffdb'],
  ['You &amp; I', 'You & I'],
  ['', ''],
])('the text of %j is %j', (source, text) => expect(one(source)).toEqual({ text, links: [] }))

it.each([
  ['[a](/b)', ['/b']],
  ['[a](https://a.to/x) / [b](https://b.to/y)', ['https://a.to/x', 'https://b.to/y']],
  ['[a](https://a.to/?a=1&amp;b=2)', ['https://a.to/?a=1&b=2']],
  ['[a](https://a.to/?a=1&copy=1&region=kr)', ['https://a.to/?a=1&copy=1&region=kr']],
  ['[a](https://a.to/\\*b)', ['https://a.to/*b']],
  ['https://a.to/x', ['https://a.to/x']],
  ['[a]()', []],
  ['[a](&#32;)', []],
  ['[a](/b&#32;)', ['/b']],
  ['a', []],
])('the links of %j are %j', (source, links) => expect(one(source)?.links).toEqual(links))

it('has the links that the page defines', () => {
  expect(one('[a][b]', '[b]: https://a.to/x')).toEqual({ text: 'a', links: ['https://a.to/x'] })
  expect(one('[a][c]', '[b]: https://a.to/x', '[c]: https://c.to/x')?.links).toEqual(['https://c.to/x'])
})

it.each([
  ['~~IU~~', true],
  ['~~IU~~ ~~Love Poem~~', true],
  ['~~IU~~ Love Poem', undefined],
  ['IU', undefined],
  ['', undefined],
])('%j is struck out: %s', (source, isStruck) => expect(one(source)?.isStruck).toBe(isStruck))

it('reads as many cells as there are, each by itself', () => {
  expect(renderCells(['a', '', '[b](/c)'])).toEqual([
    { text: 'a', links: [] },
    { text: '', links: [] },
    { text: 'b', links: ['/c'] },
  ])
  expect(renderCells(['~~a~~', 'b', '`c`', 'd*'])).toEqual([
    { text: 'a', isStruck: true, links: [] },
    ...['b', 'c', 'd'].map((text) => ({ text, links: [] })),
  ])
  expect(renderCells([])).toEqual([])
})
