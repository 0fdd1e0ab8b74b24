import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createByteReader, createByteWriter } from '../../src/history/bytes.ts'
import { levels } from '../../src/history/levels.ts'
import { Rings } from '../../src/history/rings.ts'
import { seriesNames } from '../../src/history/series.ts'

const start = Date.UTC(2026, 0, 1)
const day = 86_400_000
const [players, latency, , tickTimeMean] = seriesNames.keys()

function imageOf(rings: Rings): Buffer {
  const writer = createByteWriter()
  rings.write(writer)
  return writer.done()
}

/** The values of all series in the first bucket of each level. */
const firstBuckets = (rings: Rings) =>
  levels.map(({ step }, level) => seriesNames.map((_, series) => rings.get(level, start / step, series)))

const value = fc.record({
  series: fc.nat(seriesNames.length - 1),
  value: fc.double({ min: 0, max: 100_000, noNaN: true }),
  weight: fc.integer({ min: 1, max: 10_000 }),
})

it('has the same values of a bucket while it is open, after it has ended and after it is read', () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 30 }), (values) => {
      const rings = new Rings()
      for (const { series, value, weight } of values) rings.addValue(start, series, value, weight)
      const open = firstBuckets(rings)
      const restored = new Rings()
      restored.read(createByteReader(imageOf(rings)))
      expect(firstBuckets(restored)).toEqual(open)
      rings.addValue(start + day, players!, 1, 1)
      expect(firstBuckets(rings)).toEqual(open)
    }),
  )
})

it('has the minimum, the mean by weight and the maximum', () => {
  const rings = new Rings()
  rings.addValue(start, latency!, 10, 1_000)
  rings.addValue(start, latency!, 40, 2_000)
  expect(rings.get(0, start / levels[0].step, latency!)).toEqual({ min: 10, mean: 30, max: 40 })
  expect(rings.get(0, start / levels[0].step, players!)).toBeUndefined()
  expect(rings.get(0, start / levels[0].step + 1, latency!)).toBeUndefined()
})

it('adds to a bucket that has ended when the clock goes back, as if its values were of the whole bucket', () => {
  const rings = new Rings()
  rings.addValue(start, latency!, 10, 1_000)
  rings.addValue(start + 10_000, latency!, 20, 1_000)
  rings.addValue(start, latency!, 40, 5_000)
  expect(rings.get(0, start / levels[0].step, latency!)).toEqual({ min: 10, mean: 20, max: 40 })
  expect(rings.get(0, start / levels[0].step + 1, latency!)).toEqual({ min: 20, mean: 20, max: 20 })
})

it('keeps the values of a series that an added image lacks', () => {
  const [rings, other] = [new Rings(), new Rings()]
  rings.addValue(start, tickTimeMean!, 2, 5_000)
  other.addValue(start + 10_000, players!, 7, 5_000)
  rings.read(createByteReader(imageOf(other)))
  rings.addValue(start + 20_000, tickTimeMean!, 6, 5_000)
  expect(rings.get(1, start / levels[1].step, tickTimeMean!)).toEqual({ min: 2, mean: 4, max: 6 })
  expect(rings.get(1, start / levels[1].step, players!)).toEqual({ min: 7, mean: 7, max: 7 })
})

it('restores an image that is written before anything is added', () => {
  const rings = new Rings()
  rings.addValue(start, players!, 3, 1_000)
  rings.read(createByteReader(imageOf(new Rings())))
  expect(rings.get(0, start / levels[0].step, players!)).toEqual({ min: 3, mean: 3, max: 3 })
})

it('takes memory for a level when its first bucket ends', () => {
  const rings = new Rings()
  const sizes = [0, 5_000, 10_000, 60_000, 600_000].map((passed) => {
    rings.addValue(start + passed, latency!, 1, 1_000)
    return rings.bytes()
  })
  // A table of four buckets has two words for the number and three for a series; the finest level then has its fourth bucket.
  const table = 4 * 2 * (2 + 3)
  expect(sizes.map((size) => size - sizes[0]!)).toEqual([0, 0, table, 2 * table, 3 * table])
})
