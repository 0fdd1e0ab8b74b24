import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Schedule } from '../../../src/game/watcher/schedule.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 20_000 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 1_500 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pollSoon' as const) }) },
  // How long each poll takes.
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('slow' as const), ms: fc.integer({ min: 0, max: 12_000 }) }) },
)

const options = fc.record({
  interval: fc.constantFrom(500, 1_000, 5_000),
  firstMs: fc.integer({ min: 0, max: 5_000 }),
  seed: fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
  steps: fc.array(step, { minLength: 1, maxLength: 40 }),
})

const checked = fc.asyncProperty(options, async ({ interval, firstMs, seed, steps }) => {
  const clock = manualClock(0)
  /** Timers of the schedule, without those that end the polls. */
  let pending = 0
  const after: typeof clock.after = (delay, action) => {
    let isPending = true
    pending++
    expect(pending).toBe(1)
    const end = () => {
      if (isPending) pending--
      isPending = false
    }
    const cancel = clock.after(delay, () => {
      end()
      action()
    })
    return () => {
      end()
      cancel()
    }
  }
  const starts: number[] = []
  let pollMs = 0
  const schedule = new Schedule({
    interval,
    clock: { ...clock, after },
    random: () => seed.next().value ?? 0,
    async poll() {
      starts.push(clock.now())
      await new Promise<void>((resolve) => clock.after(pollMs, resolve))
    },
  })

  schedule.pollSoon()
  expect(pending).toBe(0)
  schedule.start(firstMs)
  for (const one of steps) {
    if (one.kind === 'wait') await clock.advance(one.ms)
    else if (one.kind === 'slow') pollMs = one.ms
    else {
      const lastAt = starts.at(-1)
      schedule.pollSoon()
      // Without a poll in progress, whose end may move the next one.
      await clock.advance(0)
      if (lastAt !== undefined && clock.now() - lastAt >= interval) expect(starts.at(-1)).toBe(clock.now())
    }
    expect(pending).toBe(1)
    // The next poll starts within the interval, even if nothing happens any more.
    expect(clock.now() - (starts.at(-1) ?? 0)).toBeLessThanOrEqual(Math.max(firstMs, interval))
  }

  const [first] = starts
  if (first !== undefined) expect(first).toBeLessThanOrEqual(firstMs)
  const pauses = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
  for (const pause of pauses) {
    expect(pause).toBeGreaterThanOrEqual(Math.min(1_000, interval * 0.9) - 1e-6)
    expect(pause).toBeLessThanOrEqual(interval + 1e-6)
  }

  schedule.close()
  expect(pending).toBe(0)
  const count = starts.length
  schedule.pollSoon()
  await clock.advance(10 * interval)
  expect([starts.length, pending]).toEqual([count, 0])
})

it('polls neither too often nor too rarely, and never after it is closed, whatever happens in between', async () => {
  await fc.assert(checked, { numRuns: 500 })
})
