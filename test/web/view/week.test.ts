import { expect, it } from 'vitest'
import { createFormat } from '../../../src/web/view/format.ts'
import { toHtml } from '../../../src/web/view/node.ts'
import { texts as english } from '../../../src/web/view/texts/en.ts'
import { viewWeek, viewWeekTable, weekHours } from '../../../src/web/view/week.ts'

const step = 600_000
// In the time zone of this process, as the page does in that of the reader.
const monday = new Date(2026, 10, 16).getTime()
const context = { texts: english, format: createFormat('en'), now: monday, root: '', title: '' }

/** Half an hour of 6 players, an unknown half hour, then an hour without players. */
const week = weekHours({ from: monday, step, players: [6, 6, 6, null, null, null, 0, 0, 0, 0, 0, 0, ...Array(996).fill(null)] })

it('has the mean of the known values of each hour', () => {
  expect(week.map((day) => day.length)).toEqual(Array(7).fill(24))
  expect(week[0]?.slice(0, 3)).toEqual([6, 0, null])
  expect(week[6]?.[23]).toBeNull()
})

it('shows no players and no data differently', () => {
  const cells = [...toHtml(viewWeek(week, context)).matchAll(/<i class="([\w-]+)" data-tip="([^"]*)"/g)]
  expect(cells).toHaveLength(168)
  expect(cells.slice(0, 3).map(([, shade, tip]) => [shade, tip])).toEqual([
    ['shade-5', 'Monday, 12:00 AM to 01:00 AM: 6.0 players'],
    ['shade-0', 'Monday, 01:00 AM to 02:00 AM: 0 players'],
    ['unknown', 'Monday, 02:00 AM to 03:00 AM: no data'],
  ])
  const table = toHtml(viewWeekTable(week, context))
  expect(table.match(/<tr>/g)).toHaveLength(25)
  expect(table).toContain('<th scope="row">01:00 AM</th><td>0</td><td>no data</td>')
})
