import { expect, it } from 'vitest'
import type { Comeback } from '../../../../src/data/databases/kcomebacks.ts'
import { readMonth } from '../../../../src/data/scripts/kcomebacks/month.ts'
import { digestOf, type MonthState } from '../../../../src/data/scripts/kcomebacks/stored.ts'
import type { Wiki } from '../../../../src/data/scripts/kcomebacks/wiki.ts'
import type { Log } from '../../../../src/util/log.ts'
import { comeback } from '../../../helpers/data-service.ts'

const entry = (title: string, date = '2024-02-1'): Comeback => comeback({ title, date, types: [], links: [] })

const head = '|Day|Time|Artist|Album Title\n|--|--|--|--\n'
const february = ['2024-02', 'upcoming-releases/2024/february'] as const

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
