import { expect, it } from 'vitest'
import { createWheel } from '../../../src/game/watcher/wheel.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

function wheelOf(isDue: () => boolean = () => false) {
  const clock = manualClock(1_002)
  return { clock, wheel: createWheel(clock, () => ({ isDue })) }
}

it('runs each action once, never early and at most 5 ms late, also after several turns', async () => {
  const { clock, wheel } = wheelOf()
  const ran = new Map<number, number[]>()
  const delays = [0, 1, 4, 5, 6, 99, 100, 5_119, 5_120, 5_121, 20_000, 3_600_000]
  for (const delay of delays) wheel.after(delay, () => ran.set(delay, [...(ran.get(delay) ?? []), clock.now() - 1_002]))
  await clock.advance(3_600_100)
  for (const delay of delays) {
    expect(ran.get(delay)).toHaveLength(1)
    const [time = 0] = ran.get(delay)!
    expect(time).toBeGreaterThanOrEqual(delay)
    expect(time).toBeLessThanOrEqual(delay + 5)
  }
  expect(clock.pending).toBe(0)
})

/** A clock of a machine that stands still: time passes at once, and the timer fires when it is told to. */
function stoppedClock() {
  let now = 1_000
  let fire: (() => void) | undefined
  const after = (_: number, action: () => void) => {
    fire = action
    return () => {
      fire = undefined
    }
  }
  const wheel = createWheel({ now: () => now, wall: () => now, after }, () => ({ isDue: () => false }))
  return {
    wheel,
    pass(ms: number) {
      now += ms
    },
    async fire() {
      const due = fire
      fire = undefined
      due?.()
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    },
  }
}

it('runs actions in the order of their times after a pause of more than one turn', async () => {
  const { wheel, pass, fire } = stoppedClock()
  const delays = [5_130, 10, 10_400, 15, 200]
  const ran: number[] = []
  for (const delay of delays) wheel.after(delay, () => ran.push(delay))
  pass(30_000)
  await fire()
  expect(ran).toEqual([10, 15, 200, 5_130, 10_400])
})

it('runs actions that are overdue when another one is added', async () => {
  const { wheel, pass, fire } = stoppedClock()
  const ran: string[] = []
  wheel.after(10, () => ran.push('first'))
  pass(1_000)
  wheel.after(0, () => ran.push('second'))
  await fire()
  expect(ran).toEqual(['first', 'second'])
})

it('runs an action in the next tick that is added after its own tick has passed', async () => {
  const { clock, wheel } = wheelOf()
  let ranAt = 0
  wheel.after(60_000, () => {})
  wheel.after(8, () => wheel.after(0, () => (ranAt = clock.now())))
  await clock.advance(30)
  expect(ranAt).toBe(1_015)
})

it('runs the other actions when one is cancelled', async () => {
  const { clock, wheel } = wheelOf()
  let ran = 0
  const cancel = wheel.after(10, () => ran++)
  wheel.after(20, () => ran++)
  cancel()
  await clock.advance(30)
  expect(ran).toBe(1)
})

it('sets no timer beyond the maximum of setTimeout(), which would fire at once', async () => {
  const clock = manualClock()
  const delays: number[] = []
  const after: typeof clock.after = (delay, action) => {
    delays.push(delay)
    return clock.after(delay, action)
  }
  const wheel = createWheel({ ...clock, after })
  const day = 86_400_000
  let ranAt = 0
  wheel.after(25 * day, () => {
    ranAt = clock.now()
  })
  await clock.advance(25 * day + 5)
  expect(Math.max(...delays)).toBeLessThan(2 ** 31)
  expect(ranAt).toBeGreaterThanOrEqual(25 * day + 1_000)
})

it('accepts actions while it runs others, and after being idle', async () => {
  const { clock, wheel } = wheelOf()
  const times: number[] = []
  const again = () => {
    times.push(clock.now())
    if (times.length < 4) wheel.after(times.length === 2 ? 0 : 100, again)
  }
  wheel.after(100, again)
  await clock.advance(1_000)
  expect(times).toEqual([1_105, 1_205, 1_205, 1_305])
  await clock.advance(10_000_000)
  wheel.after(10, () => times.push(clock.now()))
  await clock.advance(20)
  expect(times.at(-1)).toBeLessThanOrEqual(10_002_002 + 15)
  expect(times).toHaveLength(5)
})

it('does not run or keep a timer for cancelled actions', async () => {
  const { clock, wheel } = wheelOf()
  let ran = 0
  const cancel = wheel.after(10, () => ran++)
  const cancelBoth = [wheel.after(10, () => cancelBoth[1]!()), wheel.after(10, () => ran++)]
  cancel()
  cancel()
  await clock.advance(100)
  expect(ran).toBe(0)
  const last = wheel.after(1_000_000, () => ran++)
  expect(clock.pending).toBe(1)
  last()
  expect(clock.pending).toBe(0)
})

it('sets one timer for the earliest action', async () => {
  const { clock, wheel } = wheelOf()
  for (let delay = 1_000; delay > 0; delay--) wheel.after(delay, () => {})
  expect(clock.pending).toBe(1)
  let ran = false
  wheel.after(500, () => {})
  wheel.after(3, () => {
    ran = true
  })
  await clock.advance(8)
  expect(ran).toBe(true)
})

it('runs actions that are due at the same time in slices', async () => {
  let slice = 0
  const clock = manualClock()
  const wheel = createWheel(clock, () => {
    let batches = 0
    slice++
    // Called after each batch of four actions.
    return { isDue: () => ++batches >= 5 }
  })
  const slices: number[] = []
  for (let index = 0; index < 100; index++) wheel.after(10, () => slices.push(slice))
  await clock.advance(20)
  expect(slices).toHaveLength(100)
  expect(new Set(slices).size).toBe(5)
  expect(slices.toSorted((a, b) => a - b)).toEqual(slices)
})

it('counts what actions do in microtasks as a part of the slice', async () => {
  const clock = manualClock()
  let done = 0
  const seen: number[] = []
  const wheel = createWheel(clock, () => ({ isDue: () => seen.push(done) > 2 }))
  const start = async () => {
    await Promise.resolve()
    done++
  }
  for (let index = 0; index < 16; index++) wheel.after(10, () => void start())
  await clock.advance(20)
  expect(done).toBe(16)
  // All but the batch that has just been run.
  expect(seen).toEqual([0, 4, 8])
})
