import fc from 'fast-check'
import { expect, it } from 'vitest'
import { HistoryStore } from '../../../src/history/store/store.ts'
import { seriesNames } from '../../../src/history/values/series.ts'
import { concatSlices, Slices } from '../../../src/history/values/slices.ts'

const day = 86_400_000
/** Half a minute before midnight UTC. */
const start = 19_676 * day - 30_000
const value = fc.option(fc.integer({ min: 0, max: 100 }), { nil: Number.NaN })
/** Of a server: what it shows, and for how long; the clock may be set back before. */
const observations = fc.array(
  fc.record({
    values: fc.tuple(value, value, value, value, value),
    seconds: fc.integer({ min: 0, max: 25 }),
    back: fc.constantFrom(0, 0, 0, 40),
  }),
  { minLength: 1, maxLength: 4 },
)

it('has the same of each server whether it is written with many others or alone', () => {
  fc.assert(
    fc.property(fc.array(observations, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 63 }), (kinds, count) => {
      const stores = [new HistoryStore({ days: 400 }), new HistoryStore({ days: 400 })] as const
      const [together, alone] = stores
      const names = Array.from({ length: count }, (_, index) => `server-${index}`)
      const ids = stores.map((store) => store.servers(names).map(({ id }) => id))[0]!
      const recorded = new Map(ids.map((id) => [id, new Slices()]))
      for (let round = 0; round < 2; round++) {
        const all = Array.from(recorded, ([id, slices]) => {
          let at = start + round * 20_000
          for (const { values, seconds, back } of kinds[id % kinds.length]!) {
            at -= back * 1_000
            slices.add({ up: id % 2 === 0, values: values.map((known) => known + (id % 7)) }, at, seconds * 1_000)
            at += seconds * 1_000
          }
          return slices.take(id)
        })
        const changes = { sessions: [], events: [], incidents: [] }
        together.write({ slices: concatSlices(all), ...changes })
        for (const slices of all) alone.write({ slices, ...changes })
      }
      const now = start + 90_000
      const read = (store: HistoryStore) => [
        store.buckets.peak(start - day, now),
        ...ids.map((id) => [
          store.buckets.uptime(id, 3, now),
          ...[day / 24, day].map((range) => store.buckets.range(id, { names: seriesNames, range, points: 1_000 }, now)),
        ]),
      ]
      expect(read(together)).toEqual(read(alone))
      for (const store of stores) store.close()
    }),
    { numRuns: 5 },
  )
})
