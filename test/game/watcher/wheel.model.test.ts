import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createWheel } from '../../../src/game/watcher/wheel.ts'
import type { Clock } from '../../../src/util/clock.ts'

const tickMs = 5

/** What happens at one moment, also inside the action of a timer. */
type Change =
  | { readonly kind: 'add'; readonly delay: number; readonly inside: readonly Change[] }
  | { readonly kind: 'cancel'; readonly timer: number }

/** Delays of a few ticks are frequent, so that timers share slots. A turn of the wheel is 5,120 ms. */
const delays = fc.oneof(
  fc.integer({ min: 0, max: 30 }),
  fc.constantFrom(0, 5_115, 5_119, 5_120, 5_121, 5_125, 10_240, 10_245),
  fc.integer({ min: 0, max: 20_000 }),
  fc.integer({ min: 0, max: 1_000_000 }),
  fc.double({ min: -10, max: 100, noNaN: true }),
)
const cancellation = fc.record({ kind: fc.constant('cancel' as const), timer: fc.nat(60) })
const { change } = fc.letrec<{ change: Change; inside: Change }>((tie) => ({
  inside: fc.oneof({ depthSize: 'small', maxDepth: 3 }, cancellation, tie('change')),
  change: fc.oneof(
    cancellation,
    fc.record({ kind: fc.constant('add' as const), delay: delays, inside: fc.array(tie('inside'), { maxLength: 3 }) }),
  ),
}))
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: change },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('run' as const), ms: fc.integer({ min: 0, max: 12_000 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const), ms: fc.integer({ min: 0, max: 600_000 }) }) },
  ),
  { minLength: 5, maxLength: 60 },
)

/** A clock whose timers fire a little early or late. While it is stopped time passes, but no timer fires, as for a stopped process. */
function inexactClock(inexactness: () => number) {
  let now = 1_002.3
  const timers = new Set<{ readonly at: number; readonly action: () => void }>()
  const clock: Clock = {
    now: () => now,
    wall: () => now,
    after(delay, action) {
      const timer = { at: now + Math.max(0, delay + inexactness()), action }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }
  async function run(ms: number): Promise<void> {
    const end = now + ms
    for (;;) {
      const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      timers.delete(next)
      now = Math.max(now, next.at)
      next.action()
      for (let turn = 0; turn < 30; turn++) await Promise.resolve()
    }
    now = Math.max(now, end)
  }
  const stop = (ms: number) => {
    now += ms
    return run(0)
  }
  return { clock, run, stop, pending: () => timers.size }
}

interface Expected {
  readonly at: number
  readonly tick: number
  readonly number: number
  readonly inside: readonly Change[]
  readonly cancel: () => void
  state: 'pending' | 'run' | 'cancelled'
}

const checked = fc.asyncProperty(steps, fc.infiniteStream(fc.nat(99)), async (list, numbers) => {
  const random = () => (numbers.next().value ?? 0) / 100
  const { clock, run, stop, pending } = inexactClock(() => random() * 1.7 - 0.8)
  const wheel = createWheel(clock, () => ({ isDue: () => random() < 0.3 }))
  const timers: Expected[] = []
  let stoppedUntil = 0

  function apply(one: Change): void {
    if (one.kind === 'cancel') {
      const timer = timers[one.timer]
      timer?.cancel()
      if (timer?.state === 'pending') timer.state = 'cancelled'
      return
    }
    // Due when it is added at the earliest, whatever its delay.
    const at = clock.now() + Math.max(0, one.delay)
    const number = timers.length
    const cancel = wheel.after(one.delay, () => fired(number))
    timers.push({ at, tick: Math.ceil(at / tickMs), number, inside: one.inside, cancel, state: 'pending' })
  }

  function fired(number: number): void {
    const timer = timers[number]!
    expect(timer.state).toBe('pending')
    timer.state = 'run'
    const now = clock.now()
    expect(now).toBeGreaterThanOrEqual(timer.at - 0.9)
    // A tick, the inexactness of the clock, and one more of it for each slice that is run before.
    if (timer.at > stoppedUntil) expect(now).toBeLessThanOrEqual(timer.at + 8 * tickMs)
    const earlier = timers.find((other) => other.state === 'pending' && other.tick < timer.tick && other.at < now - 2 * tickMs)
    expect(earlier, `before the one of ${timer.at}`).toBeUndefined()
    for (const one of timer.inside) apply(one)
  }

  for (const step of list) {
    if (step.kind === 'run') await run(step.ms)
    else if (step.kind === 'stop') {
      stoppedUntil = clock.now() + step.ms
      await stop(step.ms)
      await run(50)
    } else apply(step)
    if (timers.some(({ state }) => state === 'pending')) expect(pending()).toBe(1)
    const late = timers.filter(({ state, at }) => state === 'pending' && at < clock.now() - 10 * tickMs)
    expect(late).toEqual([])
  }
  for (let turn = 0; turn < 1_000 && pending() > 0; turn++) await run(10_000)
  expect(timers.filter(({ state }) => state === 'pending')).toEqual([])
  expect(pending()).toBe(0)
})

it('runs each timer once, in order, unless it is cancelled, whatever the timers do and however long the process stops', async () => {
  await fc.assert(checked, { numRuns: 150 })
})
