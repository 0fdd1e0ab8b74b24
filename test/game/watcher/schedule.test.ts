import { expect, it, onTestFinished } from 'vitest'
import { Schedule } from '../../../src/game/watcher/schedule.ts'
import { createLimiter } from '../../../src/util/limiter.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

/** Three schedules of 1 s whose polls are ended by the test, with a limit of one concurrent poll. */
function threeOf() {
  const clock = manualClock(0)
  const limit = createLimiter(() => 1)
  const started: string[] = []
  const delays: number[] = []
  const ends: (() => void)[] = []
  const schedules = ['a', 'b', 'c'].map(
    (name) =>
      new Schedule({
        ...{ interval: 1_000, clock, random: () => 0, limit },
        onStart: (delayMs) => delays.push(delayMs),
        poll() {
          started.push(name)
          return new Promise<void>((resolve) => ends.push(resolve))
        },
      }),
  )
  return { clock, schedules, started, delays, end: () => ends.shift()?.() }
}

it('starts a waiting poll when another one has ended, and reports its delay', async () => {
  const { clock, schedules, started, delays, end } = threeOf()
  for (const schedule of schedules) schedule.start(100)
  await clock.advance(300)
  expect(started).toEqual(['a'])
  end()
  await clock.advance(50)
  expect(started).toEqual(['a', 'b'])
  end()
  await clock.advance(0)
  expect(started).toEqual(['a', 'b', 'c'])
  expect(delays).toEqual([0, 200, 250])
  for (const schedule of schedules) schedule.close()
})

it('has at most one poll of a server waiting, however long it waits', async () => {
  const { clock, schedules, started, end } = threeOf()
  for (const schedule of schedules) schedule.start(0)
  await clock.advance(10_500)
  expect(started).toEqual(['a'])
  for (let count = 0; count < 10; count++) {
    end()
    await clock.advance(0)
  }
  // The first poll of b and c, and the second one of a.
  expect(started.toSorted()).toEqual(['a', 'a', 'b', 'c'])
  for (const schedule of schedules) schedule.close()
})

it('does not start a poll that was waiting when it is closed', async () => {
  const { clock, schedules, started, end } = threeOf()
  for (const schedule of schedules) schedule.start(0)
  await clock.advance(10)
  for (const schedule of schedules) schedule.close()
  end()
  await clock.advance(10)
  expect(started).toEqual(['a'])
  expect(clock.pending).toBe(0)
})

/** A schedule of 1 s whose timers fire late by as many milliseconds as the test sets, and the times at which it polled. */
function lateSchedule() {
  const clock = manualClock(0)
  const started: number[] = []
  let lateness = 0
  const schedule = new Schedule({
    ...{ interval: 1_000, random: () => 0 },
    clock: { ...clock, after: (delay, action) => clock.after(delay + lateness, action) },
    async poll() {
      started.push(clock.now())
    },
  })
  const setLateness = (ms: number) => {
    lateness = ms
  }
  onTestFinished(() => schedule.close())
  return { clock, schedule, started, setLateness }
}

it.each([
  ['polls at its usual time again after a poll that started late', 300, [400, 1_100, 2_100]],
  ['does not poll twice at short notice after a poll that started very late', 700, [800, 1_800]],
])('%s', async (_, lateness, times) => {
  const { clock, schedule, started, setLateness } = lateSchedule()
  setLateness(lateness)
  schedule.start(100)
  setLateness(0)
  await clock.advance(2_500)
  expect(started).toEqual(times)
})

/** A schedule that is not limited, and the times at which it polled. */
function simpleSchedule(interval: number) {
  const clock = manualClock(0)
  const started: number[] = []
  const schedule = new Schedule({
    ...{ interval, clock, random: () => 0 },
    async poll() {
      started.push(clock.now())
    },
  })
  onTestFinished(() => schedule.close())
  return { clock, schedule, started }
}

it.each([
  ['a second after the last poll', 5_000, 100, [0, 1_000, 6_000]],
  ['at once if the last poll was longer ago', 5_000, 3_000, [0, 3_000]],
  ['not before the next poll if the interval is shorter', 400, 100, [0, 400, 800]],
])('polls soon %s', async (_, interval, afterMs, times) => {
  const { clock, schedule, started } = simpleSchedule(interval)
  schedule.start(0)
  await clock.advance(afterMs)
  schedule.pollSoon()
  schedule.pollSoon()
  await clock.advance(times.at(-1)! - afterMs)
  expect(started).toEqual(times)
})

it('polls soon instead of waiting for the first poll, but not before the start or after the end', async () => {
  const { clock, schedule, started } = simpleSchedule(5_000)
  schedule.pollSoon()
  await clock.advance(100)
  expect(started).toEqual([])
  schedule.start(2_000)
  schedule.pollSoon()
  await clock.advance(0)
  expect(started).toEqual([100])
  schedule.close()
  schedule.pollSoon()
  await clock.advance(10_000)
  expect([started, clock.pending]).toEqual([[100], 0])
})
