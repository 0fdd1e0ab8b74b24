import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import util from 'minecraft-server-util'
import type { DemoServer } from '../src/game/demo/server.ts'
import type { Source } from '../src/game/sources/source.ts'
import { silentLog } from '../src/log.ts'
import { built } from './built.ts'
import type { BenchOptions } from './main.ts'
import { record } from './results.ts'
import { endWithParent, nextMessage } from './wait.ts'

const { createStatusSource } = await built<typeof import('../src/game/sources/status/index.ts')>('game/sources/status/index.js')
const { createRconSource } = await built<typeof import('../src/game/sources/rcon/rcon-source.ts')>(
  'game/sources/rcon/rcon-source.js',
)
const { systemClock } = await built<typeof import('../src/clock.ts')>('clock.js')

/** Number of concurrent polls, so that the time spent waiting for replies is not measured. */
const pollers = 16
/** Number of rounds, in turns, of which the median is used because the load of the machine changes; and milliseconds of each. */
const efforts = { full: { rounds: 5, duration: 1_000 }, quick: { rounds: 1, duration: 50 } }

/** As in the watcher: a timer that is cleared. */
async function withDeadline<T>(poll: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController()
  const cancel = systemClock.after(5_000, () => deadline.abort())
  try {
    return await poll(deadline.signal)
  } finally {
    cancel()
  }
}

interface Result {
  readonly perSecond: number
  /** Microseconds of CPU time of this process. */
  readonly cpu: number
}

async function measure(polls: readonly (() => Promise<unknown>)[], duration: number): Promise<Result> {
  async function loop(until: number): Promise<number> {
    const counts = polls.map(async (poll) => {
      let count = 0
      while (performance.now() < until) {
        await poll()
        count++
      }
      return count
    })
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }
  const cpu = process.cpuUsage()
  const started = performance.now()
  const count = await loop(started + duration)
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: (count * 1_000) / (performance.now() - started), cpu: (user + system) / count }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/**
 * Status alone and status with RCON over persistent connections, compared to minecraft-server-util's `status()` of the same
 * server.
 */
export async function run({ quick }: BenchOptions): Promise<void> {
  const { rounds, duration } = efforts[quick ? 'quick' : 'full']
  const child = endWithParent(fork(fileURLToPath(new URL('demo-server.ts', import.meta.url))))
  const sources: Source[] = []
  const keep = <T extends Source>(source: T): T => {
    sources.push(source)
    return source
  }
  try {
    const server = await nextMessage<Pick<DemoServer, 'address' | 'rcon'>>(child)
    const { host, port } = server.address
    const context = { clock: systemClock, log: silentLog, random: Math.random, push() {} }
    const many = (make: () => () => Promise<unknown>) => Array.from({ length: pollers }, make)
    const statusOf = () => {
      const source = keep(createStatusSource(server.address, context))
      return () => withDeadline((signal) => source.poll(signal))
    }
    const rconOf = () => {
      const source = keep(createRconSource(server.rcon, context))
      return () => withDeadline((signal) => source.poll(signal))
    }
    const both = () => {
      const [status, rcon] = [statusOf(), rconOf()]
      return () => Promise.all([status(), rcon()])
    }
    const contestants = {
      'minecraft-server-util status()': many(() => () => util.status(host, port, { timeout: 5_000, enableSRV: false })),
      status: many(statusOf),
      'status + RCON': many(both),
    }
    const results = new Map<string, Result[]>()
    for (let round = 0; round <= rounds; round++) {
      for (const [name, polls] of Object.entries(contestants)) {
        const result = await measure(polls, duration)
        // The first round is a warm-up.
        results.set(name, round === 0 ? [] : [...(results.get(name) ?? []), result])
      }
    }
    const rows = [...results].map(([name, all]) => ({
      name,
      perSecond: median(all.map(({ perSecond }) => perSecond)),
      cpu: median(all.map(({ cpu }) => cpu)),
    }))
    const [theirs = { perSecond: 1, cpu: 1 }] = rows
    for (const { name, perSecond, cpu } of rows) {
      const [rate, time] = [perSecond / theirs.perSecond, cpu / theirs.cpu].map((ratio) => ratio.toFixed(2))
      record(`poll of ${name}: CPU / minecraft-server-util status()`, cpu / theirs.cpu, 'ratio')
      console.log(
        `${name.padEnd(32)}${perSecond.toFixed(0).padStart(6)} polls/s (${rate})  ${cpu.toFixed(0).padStart(5)} µs CPU per poll (${time})`,
      )
    }
  } finally {
    for (const source of sources) source.close()
    child.disconnect()
  }
}
