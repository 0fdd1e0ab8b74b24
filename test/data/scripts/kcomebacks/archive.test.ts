import { expect, it } from 'vitest'
import { readArchive } from '../../../../src/data/scripts/kcomebacks/archive.ts'

const names = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
]
const link = (page: string) => `[x](https://www.reddit.com/r/kpop/wiki/upcoming-releases/${page})`
const monthsOf = (markdown: string) => [...readArchive(markdown).pages.keys()]

it('has every month of a year, oldest first', () => {
  const markdown = names
    .toReversed()
    .map((name) => link(`2024/${name}`))
    .join('\r\n\r\n')
  const { pages, unknown } = readArchive(markdown)
  expect([...pages]).toEqual(names.map((name, index) => [`2024-${`0${index + 1}`.slice(-2)}`, `upcoming-releases/2024/${name}`]))
  expect(unknown).toEqual([])
})

it('sorts months in any order', () => {
  const links = ['2024/may', '2023/june', '2025/january', '2024/april', '2023/july'].map(link)
  expect(monthsOf(links.join(' '))).toEqual(['2023-06', '2023-07', '2024-04', '2024-05', '2025-01'])
})

it('has each month once, in lower case', () => {
  const { pages } = readArchive([link('2024/March'), link('2023/DECEMBER'), link('2024/march')].join(' '))
  expect([...pages.values()]).toEqual(['upcoming-releases/2023/december', 'upcoming-releases/2024/march'])
})

it('has the links whose last part is not a month, in their order', () => {
  const { pages, unknown } = readArchive([link('2024/Maybe'), link('2024/may'), link('2023/tba'), link('2023/tba')].join('\n'))
  expect([...pages.keys()]).toEqual(['2024-05'])
  expect(unknown).toEqual(['upcoming-releases/2024/Maybe', 'upcoming-releases/2023/tba', 'upcoming-releases/2023/tba'])
})

it.each([
  ['/upcoming-releases/2024/june', ['2024-06']],
  ['(/r/kpop/wiki/upcoming-releases/2024/june#wiki_osts)', ['2024-06']],
  ['/upcoming-releases/2024/june/', ['2024-06']],
  ['/upcoming-releases/2024/june1', []],
  ['/upcoming-releases/2024/june_old', []],
  ['upcoming-releases/2024/june', []],
  ['/upcoming-releases/24/june', []],
  ['/upcoming-releases/20245/june', []],
  ['/upcoming-releases/2024/', []],
  ['/Upcoming-Releases/2024/june', []],
  ['/upcoming-releases/archive', []],
  ['', []],
])('finds in %j the months %j', (markdown, months) => {
  expect(monthsOf(markdown)).toEqual(months)
  expect(readArchive(markdown).unknown).toEqual([])
})
