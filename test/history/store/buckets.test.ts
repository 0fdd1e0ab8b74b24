import { join } from 'node:path'
import Database from 'libsql'
import { expect, it } from 'vitest'
import { HistoryStore } from '../../../src/history/store/store.ts'
import { concatSlices, Slices } from '../../../src/history/values/slices.ts'
import { temporaryFolder } from '../../helpers/discovering-service.ts'

const minute = 60_000
const midnight = 19_676 * 86_400_000
const names = Array.from({ length: 120 }, (_, index) => `server-${index}`)

/** A minute around midnight of a server, which has another number of players on each day, and perhaps all series. */
function slicesOf(index: number, id: number): Float64Array {
  const slices = new Slices()
  const others = index % 3 === 0 ? [20, 19.5, 8, 12] : [20]
  slices.add({ up: true, values: [index % 7, ...others] }, midnight - minute / 2, minute / 2)
  slices.add({ up: index % 2 === 0, values: [index % 5, ...others] }, midnight, minute / 2)
  return slices.take(id)
}

it('are the same whether many servers are written at once or one after the other', () => {
  const write = (isAtOnce: boolean) => {
    const path = join(temporaryFolder(), 'history.db')
    const store = new HistoryStore({ path })
    const parts = store.servers(names).map(({ id }, index) => slicesOf(index, id))
    const batches = isAtOnce ? [concatSlices(parts)] : parts
    // Twice: the second time it is added to what is there.
    for (const slices of [...batches, ...batches]) store.write({ slices, sessions: [], events: [], incidents: [] })
    store.close()
    const db = new Database(path)
    const rows = ['ten_seconds', 'minutes', 'ten_minutes', 'days', 'servers'].map((table) =>
      db.prepare(`SELECT * FROM ${table}`).raw().all(),
    )
    db.close()
    return rows
  }
  const [ofSeconds = [], , , ofDays = [], servers = []] = write(true)
  expect([ofSeconds.length, ofDays.length]).toEqual([720, 240])
  // The record of a server with more players on the first day, and of one with as many on both.
  const first = midnight - minute / 2
  expect(servers[6]).toEqual([7, 'server-6', first, 6, first])
  expect(servers[1]).toEqual([2, 'server-1', first, 1, first])
  expect(servers[7]).toEqual([8, 'server-7', first, 2, midnight])
  expect(write(true)).toEqual(write(false))
})

it('have no more digits of the uptime than six', () => {
  const store = new HistoryStore({})
  const [{ id } = { id: -1 }] = store.servers(['Server'])
  const slices = new Slices()
  slices.add({ up: true, values: [] }, midnight, 87_006)
  slices.add({ up: false, values: [] }, midnight + 87_006, 12_994)
  store.write({ slices: slices.take(id), sessions: [], events: [], incidents: [] })
  expect(store.buckets.uptime(id, 1, midnight).days[0]?.up).toBe(0.870_06)
  store.close()
})
