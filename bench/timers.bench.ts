import type { Clock } from '../src/clock.ts'
import { built } from './built.ts'
import type { BenchOptions } from './main.ts'
import { record } from './results.ts'

const { systemClock } = await built<typeof import('../src/clock.ts')>('clock.js')
const { createWheel } = await built<typeof import('../src/game/watcher/wheel.ts')>('game/watcher/wheel.js')

/**
 * Milliseconds of the timers of one poll: the deadline and the pong, which are cancelled, and the time at which the next value
 * becomes stale.
 */
const perPoll = [3_000, 120, 15_000]

/** Microseconds of CPU time of all timers of one poll, for servers that are polled in turn. */
async function measure(clock: Clock, servers: number, rounds: number): Promise<number> {
  const cancels = Array.from({ length: servers }, () => (): void => {})
  const before = process.cpuUsage()
  for (let round = 0; round < rounds; round++) {
    for (let server = 0; server < servers; server++) {
      cancels[server]?.()
      const made = perPoll.map((delay, index) => clock.after(delay + ((server * 7 + index) % 50) / 3, () => {}))
      made[0]?.()
      made[1]?.()
      cancels[server] = made[2] ?? (() => {})
      if (server % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const { user, system } = process.cpuUsage(before)
  for (const cancel of cancels) cancel()
  return (user + system) / (servers * rounds)
}

/** Milliseconds of work of each due action. */
const workMs = 0.05

function work(): void {
  const end = performance.now() + workMs
  while (performance.now() < end);
}

/**
 * The longest time, in milliseconds, for which the event loop is blocked if `count` polls are due at the same time, as after a
 * long pause.
 */
async function measureStall(clock: Clock, count: number): Promise<number> {
  let left = count
  let longest = 0
  for (let index = 0; index < count; index++) {
    clock.after(10 + (index % 40), () => {
      work()
      left--
    })
  }
  // The process is blocked until all of them are due.
  const end = performance.now() + 60
  while (performance.now() < end);
  for (let last = performance.now(); left > 0; ) {
    await new Promise((resolve) => setImmediate(resolve))
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  return longest
}

/** The timers of 10,000 servers: one timer wheel compared to timers of Node.js. */
export async function run({ quick }: BenchOptions): Promise<void> {
  const [servers, rounds] = quick ? [1_000, 2] : [10_000, 20]
  const [system, wheel]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < (quick ? 1 : 5); turn++) {
    system.push(await measure(systemClock, servers, rounds))
    wheel.push(await measure(createWheel(systemClock), servers, rounds))
  }
  const [stalled, sliced]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < (quick ? 1 : 5); turn++) {
    stalled.push(await measureStall(systemClock, quick ? 500 : 4_000))
    sliced.push(await measureStall(createWheel(systemClock), quick ? 500 : 4_000))
  }
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
  const ratio = median(system) / median(wheel)
  record('timers of one poll, system timers / wheel', ratio, 'ratio')
  record('longest block of the event loop by 4,000 actions due at the same time, wheel', median(sliced), 'ms', 'under 20')
  record('longest block of the event loop, system timers / wheel', median(stalled) / median(sliced), 'ratio')
  console.log(
    `actions due at the same time block the event loop for ${median(stalled).toFixed(0)} ms by timers of the system, ${median(sliced).toFixed(0)} by the wheel`,
  )
  console.log(
    `timers of one poll of ${servers} servers: ${median(system).toFixed(2)} µs CPU by timers of the system, ${median(wheel).toFixed(2)} by the wheel: ${ratio.toFixed(1)}`,
  )
}
