import fc from 'fast-check'
import { expect, it } from 'vitest'
import { joinSlices, layout, ofSeries, Slices, sliceSize } from '../../../src/history/values/slices.ts'

const start = 1_700_000_000_000
const value = fc.option(fc.integer({ min: 0, max: 100 }), { nil: Number.NaN })
const observations = fc.array(
  fc.record({ up: fc.boolean(), values: fc.tuple(value, value, value, value, value), seconds: fc.integer({ min: 0, max: 25 }) }),
  { maxLength: 30 },
)
type Observed = typeof observations extends fc.Arbitrary<infer T> ? T : never

function taken(add: (slices: Slices) => void, server = 5): Float64Array {
  const slices = new Slices()
  add(slices)
  const numbers = slices.take(server)
  expect(slices.take(server)).toHaveLength(0)
  return numbers
}

function addAll(slices: Slices, observed: Observed): void {
  let at = start
  for (const { up, values, seconds } of observed) {
    slices.add({ up, values }, at, seconds * 1_000)
    at += seconds * 1_000
  }
}

it('has the values of a series that is first known after some slices', () => {
  const [first, second] = [
    taken((slices) => {
      slices.add({ up: true, values: [3, 20] }, start, 10_000)
      slices.add({ up: true, values: [4, 30, 19] }, start + 10_000, 10_000)
    }),
  ].flatMap((numbers) => [numbers.slice(0, sliceSize), numbers.slice(sliceSize, 2 * sliceSize)])
  const noValues = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  expect([...(first ?? [])]).toEqual([
    ...[5, start, 10_000, 10_000, start],
    ...[10_000, 30_000, 3, 3, 10_000, 200_000, 20, 20],
    ...[...noValues, ...noValues, ...noValues],
  ])
  expect([...(second ?? [])]).toEqual([
    ...[5, start + 10_000, 10_000, 10_000, start + 10_000],
    ...[10_000, 40_000, 4, 4, 10_000, 300_000, 30, 30, 10_000, 190_000, 19, 19],
    ...[...noValues, ...noValues],
  ])
})

it('is the same whether all series were known before or not', () => {
  fc.assert(
    fc.property(observations, (observed) => {
      const slices = new Slices()
      slices.add({ up: true, values: [0, 0, 0, 0, 0] }, start, 1)
      slices.take(0)
      addAll(slices, observed)
      expect(taken((narrow) => addAll(narrow, observed))).toEqual(slices.take(5))
    }),
  )
})

it('joins slices to the sums, extremes and first maximum of their buckets', () => {
  const step = 60_000
  fc.assert(
    fc.property(observations, observations, (one, other) => {
      const slices = [taken((own) => addAll(own, one), 1), taken((own) => addAll(own, other), 2)]
      const both = Float64Array.from(slices.flatMap((own) => [...own]))
      const expected: number[][] = []
      for (let at = 0; at < both.length; at += sliceSize) {
        const slice = [...both.slice(at, at + sliceSize)]
        const begin = Math.floor((slice[layout.start] ?? 0) / step) * step
        const same = expected.find((bucket) => bucket[layout.server] === slice[layout.server] && bucket[layout.start] === begin)
        if (same === undefined) {
          expected.push(slice.with(layout.start, begin))
          continue
        }
        const max = layout.series + ofSeries.max
        if ((slice[max] ?? 0) > (same[max] ?? 0)) same[layout.peakAt] = slice[layout.peakAt] ?? 0
        for (let offset: number = layout.knownMs; offset < sliceSize; offset++) {
          const [a, b] = [same[offset] ?? 0, slice[offset] ?? 0]
          const kind = offset < layout.series ? undefined : (offset - layout.series) % ofSeries.size
          if (kind === ofSeries.min) same[offset] = Math.min(a, b)
          else if (kind === ofSeries.max) same[offset] = Math.max(a, b)
          else if (offset !== layout.peakAt) same[offset] = a + b
        }
      }
      expect([...joinSlices(both, step)]).toEqual(expected.flat())
    }),
  )
})
