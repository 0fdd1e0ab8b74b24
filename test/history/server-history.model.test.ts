import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createByteReader, createByteWriter } from '../../src/history/bytes.ts'
import { dayMs } from '../../src/history/days.ts'
import { decodeSlice, encodeSlice } from '../../src/history/frames.ts'
import { levels } from '../../src/history/levels.ts'
import { seriesNames } from '../../src/history/series.ts'
import { createServerHistory, quarterMs, type ServerHistory } from '../../src/history/server-history.ts'

const finest = levels[0].step
const start = Date.UTC(2026, 0, 1, 23, 50)

const known = fc.oneof(fc.integer({ min: 0, max: 500 }), fc.double({ min: 0, max: 20_000, noNaN: true }))
const observation = fc.record({
  kind: fc.constant('observe' as const),
  up: fc.boolean(),
  values: fc.tuple(...seriesNames.map(() => fc.option(known, { nil: Number.NaN, freq: 2 }))),
  durationMs: fc.oneof(fc.constantFrom(0, 10_000), fc.integer({ min: 0, max: 45_000 }), fc.integer({ min: 0, max: 1_200_000 })),
})
const gap = fc.record({
  kind: fc.constant('gap' as const),
  ms: fc.oneof(
    fc.integer({ min: 1, max: 60_000 }),
    fc.integer({ min: 1, max: 7_200_000 }),
    fc.integer({ min: 1, max: 20 * dayMs }),
  ),
})
const stepBack = fc.record({ kind: fc.constant('back' as const), ms: fc.integer({ min: 1, max: 3_600_000 }) })
/** The history is read from a new image, or from the last image and the slices since then. */
const reload = fc.record({ kind: fc.constantFrom('image' as const, 'slices' as const) })

const arbitraries = { observation, gap, stepBack, reload }
type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never
type Step = ValueOf<(typeof arbitraries)[keyof typeof arbitraries]>

interface Expected {
  readonly weight: number
  readonly sum: number
  readonly min: number
  readonly max: number
}

/** Every value that was recorded, in maps. */
function createModel() {
  const buckets = new Map<string, Expected>()
  const times = new Map<string, { known: number; up: number }>()
  const peaks = new Map<number, number>()
  const keyOf = (level: number, bucket: number, series: number) => [level, bucket, series].join()

  function addPart(up: boolean, values: readonly number[], at: number, ms: number): void {
    for (const [series, value] of values.entries()) {
      if (Number.isNaN(value)) continue
      const weight = Math.max(1, ms)
      for (const [level, { step }] of levels.entries()) {
        const key = keyOf(level, Math.floor(at / step), series)
        const { min, max, sum, weight: before } = buckets.get(key) ?? { min: value, max: value, sum: 0, weight: 0 }
        buckets.set(key, {
          ...{ min: Math.min(min, value), max: Math.max(max, value) },
          ...{ sum: sum + value * weight, weight: before + weight },
        })
      }
      if (series === 0) peaks.set(Math.floor(at / dayMs), Math.max(peaks.get(Math.floor(at / dayMs)) ?? 0, value))
    }
    for (const size of [dayMs, quarterMs]) {
      const key = `${size} ${Math.floor(at / size)}`
      const time = times.get(key) ?? { known: 0, up: 0 }
      times.set(key, { known: time.known + ms, up: time.up + (up ? ms : 0) })
    }
  }

  return {
    buckets,
    times,
    peaks,
    add(up: boolean, values: readonly number[], at: number, durationMs: number) {
      for (let from = at; ; ) {
        const next = Math.min(at + durationMs, (Math.floor(from / finest) + 1) * finest)
        addPart(up, values, from, next - from)
        from = next
        if (from >= at + durationMs) return
      }
    },
  }
}

/** Four digits, or a 4-byte float. @param rounded how often the value has been rounded */
function expectAbout(found: number, expected: number, series: number, rounded: number, message: string): void {
  const tolerance = series === 0 ? 1e-5 * expected : expected > 1638 ? 5.1 + 1e-4 * expected : 5.1e-4 + expected * 7e-4
  expect(Math.abs(found - expected), `${message}: ${found}, not ${expected}`).toBeLessThanOrEqual(rounded * tolerance + 1e-6)
}

const imageOf = (history: ServerHistory): Buffer => {
  const writer = createByteWriter()
  history.write(writer)
  return writer.done()
}

function check(steps: readonly Step[]): void {
  let history = createServerHistory()
  let image = imageOf(history)
  let slices: Buffer[] = []
  const model = createModel()
  let [now, newest] = [start, start]
  let hasGoneBack = false

  function save(): void {
    slices.push(...history.takeSlices().map(encodeSlice))
  }

  for (const step of steps) {
    if (step.kind === 'observe') {
      history.add(step, now, 0)
      history.add(step, now, step.durationMs)
      model.add(step.up, step.values, now, 0)
      model.add(step.up, step.values, now, step.durationMs)
      newest = Math.max(newest, now + step.durationMs)
      now += step.durationMs
    } else if (step.kind === 'gap') now += step.ms
    else if (step.kind === 'back') {
      hasGoneBack = true
      now -= step.ms
    } else if (step.kind === 'image') {
      image = imageOf(history)
      slices = []
      history.takeSlices()
      history = createServerHistory()
      history.read(createByteReader(image))
    } else {
      save()
      history = createServerHistory()
      history.read(createByteReader(image))
      for (const slice of slices) history.restore(decodeSlice(slice))
    }
  }

  const rounded = 2 + steps.filter(({ kind }) => kind === 'image' || kind === 'slices').length
  for (const [key, { min, max, sum, weight }] of model.buckets) {
    const [level = 0, bucket = 0, series = 0] = key.split(',').map(Number)
    const { step, span } = levels[level]!
    // Another bucket may have taken its place, which the clock had passed already.
    const others = [1, -1, 2, -2].map((turns) => bucket + (turns * span) / step)
    if (hasGoneBack && others.some((other) => seriesNames.some((_, one) => model.buckets.has([level, other, one].join()))))
      continue
    const found = history.get(level, bucket, series)
    if (found === undefined) {
      expect(hasGoneBack || (Math.floor(newest / step) - bucket) * step >= span, `${key} is missing`).toBe(true)
      continue
    }
    expectAbout(found.min, min, series, rounded, `minimum of ${key}`)
    expectAbout(found.max, max, series, rounded, `maximum of ${key}`)
    // In a bucket that has ended, the weight of the values before is unknown.
    if (!hasGoneBack) expectAbout(found.mean, sum / weight, series, rounded, `mean of ${key}`)
    else {
      expect(found.mean).toBeGreaterThanOrEqual(found.min * 0.998 - 0.001)
      expect(found.mean).toBeLessThanOrEqual(found.max * 1.002 + 0.001)
    }
  }
  for (const [key, { known, up }] of model.times) {
    const [size = 0, number = 0] = key.split(' ').map(Number)
    const found = size === dayMs ? history.day(number) : history.quarter(number)
    const count = size === dayMs ? 400 : 96
    if (found === undefined) {
      expect(hasGoneBack || Math.floor(newest / size) - number >= count).toBe(true)
      continue
    }
    expect(found.knownMs).toBe(Math.min(dayMs, known))
    expect(found.upMs).toBe(Math.min(dayMs, up))
  }
  for (const [day, peak] of model.peaks) {
    const found = history.day(day)
    if (found !== undefined) expect(found.peak).toBeCloseTo(peak, 2)
  }
}

const stepsOf = (...names: readonly (keyof typeof arbitraries)[]) =>
  fc.array(fc.oneof(...names.map((name) => ({ weight: name === 'observation' ? 5 : 1, arbitrary: arbitraries[name] }))), {
    minLength: 1,
    maxLength: 50,
  })

it('has what was recorded, with gaps and reloads in between', () => {
  fc.assert(
    fc.property(stepsOf('observation', 'gap', 'reload'), (steps) => check(steps)),
    { numRuns: 100 },
  )
})

it('has the minimum, the maximum and the times also if the clock goes back', () => {
  fc.assert(
    fc.property(stepsOf('observation', 'gap', 'stepBack', 'reload'), (steps) => check(steps)),
    { numRuns: 100 },
  )
})
