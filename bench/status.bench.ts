import util from 'minecraft-server-util'
import type { DemoServer } from '../src/demo/demo-server.ts'
import type { SourceContext, SourceSet } from '../src/game/sources/source.ts'
import { silentLog } from '../src/util/log.ts'
import { built } from './built.ts'
import type { BenchOptions } from './main.ts'
import { startScript } from './processes.ts'
import { record } from './results.ts'
import { nextMessage } from './wait.ts'

const { StatusSource } = await built<typeof import('../src/game/sources/status/index.ts')>('game/sources/status/index.js')
const { createSources } = await built<typeof import('../src/game/sources/create-sources.ts')>('game/sources/create-sources.js')
const { SourceWatcher } = await built<typeof import('../src/game/watcher/index.ts')>('game/watcher/index.js')
const { systemClock } = await built<typeof import('../src/util/clock.ts')>('util/clock.js')

/** Many short rounds, because the load of the machine changes. */
const efforts = { full: { rounds: 40, pollsPerRound: 400 }, quick: { rounds: 1, pollsPerRound: 32 } }
/** Number of servers watched concurrently; a single one shows the cost of waking up for each reply. */
const sizes = [16, 1]

/** Microseconds of CPU time of this process per call; each caller makes one call after the other. */
async function cpuOf(callers: readonly (() => Promise<unknown>)[], pollsPerRound: number): Promise<number> {
  const each = Math.ceil(pollsPerRound / callers.length)
  const before = process.cpuUsage()
  await Promise.all(
    callers.map(async (call) => {
      for (let count = 0; count < each; count++) await call()
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (each * callers.length)
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/**
 * A whole poll as the service does it (deadline, status, snapshot) compared to minecraft-server-util's `status()` of the same
 * server.
 */
export async function run({ quick }: BenchOptions): Promise<void> {
  const { rounds, pollsPerRound } = efforts[quick ? 'quick' : 'full']
  // The server is a separate process, so that only the client is measured.
  const child = startScript('demo-server.mjs')
  const { address } = await nextMessage<Pick<DemoServer, 'address'>>(child)
  const context = { clock: systemClock, log: silentLog, random: Math.random }
  // Long: a busy machine may take seconds for a hundred polls at once.
  const settings = { interval: 5_000, timeout: 60_000, staleAfter: 600_000 }
  const watch = (sources: (context: SourceContext) => SourceSet) =>
    Array.from(
      { length: Math.max(...sizes) },
      () => new SourceWatcher({ server: 'bench', settings, ...context, sources: (push) => sources({ ...context, push }) }),
    )
  const watchers = watch((own) => createSources({ name: 'bench', sources: { status: { address } } }, own))
  const bare = watch((own) => {
    const source = new StatusSource(address, own)
    return { list: () => [source], close: () => source.close() }
  })
  try {
    const theirs = () => util.status(address.host, address.port, { timeout: 60_000, enableSRV: false })
    for (const size of sizes) {
      const contestants = {
        'minecraft-server-util status()': Array.from({ length: size }, () => theirs),
        'watcher with status': watchers.slice(0, size).map((watcher) => () => watcher.poll()),
        'the same, slow readings not measured': bare.slice(0, size).map((watcher) => () => watcher.poll()),
      }
      const times = new Map<string, number[]>()
      for (let round = 0; round <= rounds; round++) {
        for (const [name, callers] of Object.entries(contestants)) {
          const time = await cpuOf(callers, pollsPerRound)
          // The first round is a warm-up.
          times.set(name, round === 0 ? [] : [...(times.get(name) ?? []), time])
        }
      }
      const rows = [...times].map(([name, all]) => ({ name, cpu: median(all) }))
      const [, measured = [], unmeasured = []] = [...times.values()]
      console.log(`${size} at once:`)
      record(
        `poll of status, ${size} at once: CPU, slow readings measured / not measured`,
        median(measured.map((time, round) => time / (unmeasured[round] ?? Number.NaN))),
        'ratio',
        'at most 1.02',
      )
      record(`poll of status, ${size} at once`, rows[1]?.cpu ?? Number.NaN, 'µs CPU')
      record(
        `poll of status, ${size} at once: CPU, ours / minecraft-server-util`,
        (rows[1]?.cpu ?? Number.NaN) / (rows[0]?.cpu ?? 1),
        'ratio',
      )
      for (const { name, cpu } of rows) {
        console.log(`${name.padEnd(37)}${cpu.toFixed(0).padStart(5)} µs CPU per poll (${(cpu / (rows[0]?.cpu ?? 1)).toFixed(2)})`)
      }
    }
    if ([...watchers, ...bare].some((watcher) => watcher.snapshot().up !== true)) throw new Error('the poll of the server failed')
  } finally {
    for (const watcher of [...watchers, ...bare]) watcher.close()
    child.disconnect()
  }
}
