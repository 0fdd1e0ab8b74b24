import { expect, it } from 'vitest'
import type { Comeback } from '../../../../src/data/databases/kcomebacks.ts'
import { nameOf } from '../../../../src/data/scripts/kcomebacks/compare.ts'
import { objectionTo, readMonth } from '../../../../src/data/scripts/kcomebacks/month.ts'
import { digestOf, type MonthState } from '../../../../src/data/scripts/kcomebacks/stored.ts'
import type { Wiki } from '../../../../src/data/scripts/kcomebacks/wiki.ts'
import type { Log } from '../../../../src/util/log.ts'

const entry = (title: string, date = '2024-02-1'): Comeback => ({
  date,
  time: '18:00',
  artist: 'IU',
  title,
  types: [],
  links: [],
})
const entries = (count: number, from = 0) => Array.from({ length: count }, (_, index) => entry(`t${from + index}`))
function objection(
  now: readonly Comeback[],
  stored: readonly Comeback[],
  { cancelled = [], elsewhere = [], before = [] }: Others = {},
) {
  const [others, had] = [elsewhere, before].map((list) => new Set(list.map(nameOf))) as [Set<string>, Set<string>]
  return objectionTo({ entries: now, cancelled, hasTable: true, markdown: '' }, stored, others, had)?.reason
}
interface Others {
  readonly cancelled?: readonly Comeback[]
  readonly elsewhere?: readonly Comeback[]
  readonly before?: readonly Comeback[]
}

it.each<[what: string, now: readonly Comeback[], stored: readonly Comeback[], others?: Others]>([
  ['nothing is stored', [], []],
  ['nothing has changed', entries(3), entries(3)],
  ['one of two entries is lost', entries(1), entries(2)],
  ['a fifth of them is lost', entries(8), entries(10)],
  ['as many are new as are lost', entries(10, 5), entries(10)],
  ['they are struck out', [], entries(3), { cancelled: entries(3) }],
  ['they are in another month', [], entries(3), { elsewhere: entries(3) }],
  ['the new ones are in another month too, which had others before', entries(2, 9), entries(2), { elsewhere: entries(9, 9) }],
  ['they had no day', [], [entry('a', '2024-02-TBA'), entry('b', '2024-02-?')]],
])('accepts a page if %s', (_what, now, stored, others) => expect(objection(now, stored, others)).toBeUndefined())

it.each<[what: string, now: readonly Comeback[], stored: readonly Comeback[], lost: string, others?: Others]>([
  ['its only entry is lost', [], entries(1), '2024-02-1 IU - t0'],
  ['two of three are lost', entries(1), entries(3), '2024-02-1 IU - t1, 2024-02-1 IU - t2'],
  ['more than a fifth is lost', entries(7), entries(10), '2024-02-1 IU - t7, 2024-02-1 IU - t8, 2024-02-1 IU - t9'],
  [
    'one of two equal entries and others are lost',
    entries(1),
    [...entries(1), ...entries(2)],
    '2024-02-1 IU - t0, 2024-02-1 IU - t1',
  ],
  [
    'the new ones are those of another month',
    entries(2, 9),
    entries(2),
    '2024-02-1 IU - t0, 2024-02-1 IU - t1',
    { before: entries(9, 9) },
  ],
  ['it is emptied, and one is struck out', [], entries(2), '2024-02-1 IU - t1', { cancelled: entries(1) }],
  ['it is emptied, and one had no day', [], [entry('a', '2024-02-TBA'), entry('b')], '2024-02-1 IU - b'],
  [
    'exactly ten are lost',
    [],
    entries(10),
    entries(10)
      .map(({ title }) => `2024-02-1 IU - ${title}`)
      .join(', '),
  ],
  [
    'more are lost than are named',
    [],
    entries(13),
    `${entries(10)
      .map(({ title }) => `2024-02-1 IU - ${title}`)
      .join(', ')} and 3 more`,
  ],
])('refuses a page if %s', (_what, now, stored, lost, others) =>
  expect(objection(now, stored, others)).toBe(
    `the page has ${now.length} entries, but ${stored.length} are stored; missing: ${lost}`,
  ),
)

const head = '|Day|Time|Artist|Album Title\n|--|--|--|--\n'
const february = { key: '2024-02', page: 'upcoming-releases/2024/february', year: 2024, month: 2 }

async function read(reply: object | 'unchanged', state?: Partial<MonthState>) {
  const asked: unknown[] = []
  const logged: unknown[] = []
  const note =
    (level: string) =>
    (...given: unknown[]) =>
      logged.push([level, ...given])
  const log = { info: note('info'), warn: note('warn') } as unknown as Log
  const wiki = {
    async read(...given: unknown[]) {
      asked.push(given)
      return reply as Awaited<ReturnType<Wiki['read']>>
    },
  }
  const context = { log, clock: { wall: () => 1234 } }
  const now = await readMonth(wiki, february, state as MonthState | undefined, context as never)
  return { now, asked, logged }
}

it('reads no page that is unchanged, by its revision', async () => {
  const markdown = `${head}|1st|18:00|IU|a`
  expect((await read({ markdown, revision: '1' }, { revision: '1' })).now).toBe('unchanged')
  expect((await read({ markdown, revision: '2' }, { revision: '1' })).now).toMatchObject({ entries: [entry('a')] })
  expect((await read({ markdown }, {})).now).toMatchObject({ entries: [entry('a')] })
  expect((await read({ markdown })).asked).toEqual([['upcoming-releases/2024/february']])
})

it('reads a page, and reports its rows without an entry', async () => {
  const rows = ['|1st|18:00|IU|a', '|2nd|~5|IU|b', '|3rd|18:00||c', '|4th|18:00|~~IU~~|d']
  const markdown = `${head}${rows.join('\n')}`
  const { now, logged } = await read({ markdown, revision: '2' })
  const found = [entry('a'), { ...entry('b', '2024-02-2'), time: '--:--' }]
  const page = 'upcoming-releases/2024/february'
  expect(now).toEqual({
    entries: found,
    cancelled: [{ artist: 'IU', title: 'd' }],
    ...{ hasTable: true, markdown },
    rejected: 2,
    reports: [
      `${page}, line 5: it has no artist`,
      `${page}, line 6: it is struck out`,
      `${page}, line 4: "~5" is not a time of day; the entry has no time`,
    ],
    state: { read: 1234, digest: digestOf(found), revision: '2' },
  })
  expect(logged).toEqual([
    ['warn', { month: '2024-02', line: 5 }, `kcomebacks: ${page}, line 5: it has no artist; the row is left out`],
    ['warn', { month: '2024-02', line: 6 }, `kcomebacks: ${page}, line 6: it is struck out; the row is left out`],
    ['warn', { month: '2024-02', line: 4 }, `kcomebacks: ${page}, line 4: "~5" is not a time of day; the entry has no time`],
  ])
})

it.each([
  ['characters', 'x'.repeat(512 * 1024), 'x'],
  ['lines', '\n'.repeat(9999), '\r\n'],
  ['lines', '\r'.repeat(9999), '\r'],
])('reads no page of too many %s', async (_what, most, more) => {
  expect((await read({ markdown: most })).now).toMatchObject({ entries: [] })
  const reason = 'Reddit: /wiki/upcoming-releases/2024/february has more than 524288 characters or 10000 lines'
  await expect(read({ markdown: most + more })).rejects.toMatchObject({ kind: 'malformed', message: reason })
})

it.each<[what: string, markdown: string, isGone: boolean]>([
  ['nothing of them', '# OST\n|1st|18:00|Someone|else', true],
  ['one of them', '* IU: t8', true],
  ['the artist, and parts of a title', '* IU: t88, t9x', true],
  ['the artist and the titles in lines of their own', 'IU\rt8\rIU\rt9', true],
  ['half of them in a list', '* IU: *t8*\n* [t9](/x) (IU)', false],
  ['half of them in a table of another kind', 'IU|t7\n-|-\nIU|t8', false],
])('takes entries for gone unless the page still names them: %s', (_what, markdown, isGone) => {
  const now = { entries: entries(6), cancelled: [], hasTable: true, markdown }
  expect(objectionTo(now, entries(10), new Set(), new Set())?.isGone).toBe(isGone)
  expect(objectionTo({ ...now, hasTable: false }, entries(10), new Set(), new Set())?.isGone).toBe(false)
})

it('finds an entry that is named in other letter case, with other punctuation', () => {
  const now = { entries: [], cancelled: [], hasTable: true, markdown: '* iu **BLUEMING** -- (Live)' }
  expect(objectionTo(now, [entry('Blueming, live')], new Set(), new Set())?.isGone).toBe(false)
})

it.each([
  [1, true],
  [2, false],
])('takes entries for gone if %i of those of the page were in another month: %s', (count, isGone) => {
  const copied = entries(count, 20)
  const now = { entries: [...entries(6), ...copied], cancelled: [], hasTable: true, markdown: '' }
  expect(objectionTo(now, entries(10), new Set(), new Set(copied.map(nameOf)))?.isGone).toBe(isGone)
})

it.each([
  [50, false],
  [49, true],
])('looks only for the first hundred of the missing entries: %i are named', (named, isGone) => {
  const markdown = entries(named, 100 - named)
    .map(({ title }) => `* IU: ${title}\n`)
    .join('')
  const now = { entries: [], cancelled: [], hasTable: true, markdown }
  expect(objectionTo(now, entries(150), new Set(), new Set())?.isGone).toBe(isGone)
})

it('says how many rows of soundtracks are left out', async () => {
  const row = '|1st|18:00|IU|a'
  const page = 'kcomebacks: upcoming-releases/2024/february'
  const markdown = `# OST\n${head}${row}\n${row}`
  const { now, logged } = await read({ markdown })
  expect(now).toEqual({
    entries: [],
    cancelled: [],
    ...{ hasTable: false, markdown },
    rejected: 2,
    reports: [],
    state: { read: 1234, digest: digestOf([]) },
  })
  expect(logged).toEqual([['info', { month: '2024-02', rows: 2 }, `${page}: 2 rows of soundtracks left out`]])
  const single = await read({ markdown: `# OST\n${head}${row}` })
  expect(single.logged).toEqual([['info', { month: '2024-02', rows: 1 }, `${page}: 1 row of soundtracks left out`]])
})
