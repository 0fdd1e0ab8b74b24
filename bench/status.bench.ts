import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import util from 'minecraft-server-util'
import { systemClock } from '../src/clock.ts'
import type { DemoServer } from '../src/game/demo/server.ts'
import { createStatusSource } from '../src/game/sources/status.ts'
import { createWatcher } from '../src/game/watcher.ts'
import { silentLog } from '../src/log.ts'

const rounds = 5
const pollsPerRound = 800

/** Microseconds of processor time of this process per call, one call after the other. */
async function cpuOf(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let count = 0; count < pollsPerRound; count++) await call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / pollsPerRound
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** A whole poll as the service does it (deadline, status, snapshot) against minecraft-server-util's `status()` of the same server. */
export async function run(): Promise<void> {
  // The server is a process of its own, so that only the reading is counted.
  const child = fork(fileURLToPath(new URL('rcon/server.ts', import.meta.url)))
  const [{ address }] = (await once(child, 'message')) as [Pick<DemoServer, 'address'>]
  const watcher = createWatcher({
    server: 'bench',
    settings: { interval: 5_000, timeout: 5_000, staleAfter: 15_000 },
    clock: systemClock,
    log: silentLog,
    random: Math.random,
    sources(push) {
      const source = createStatusSource(address, { clock: systemClock, log: silentLog, random: Math.random, push })
      return { list: () => [source], close: () => source.close() }
    },
  })
  try {
    const contestants = {
      'minecraft-server-util status()': () => util.status(address.host, address.port, { timeout: 5_000, enableSRV: false }),
      'watcher with status': () => watcher.poll(),
    }
    const times = new Map<string, number[]>()
    for (let round = 0; round <= rounds; round++) {
      for (const [name, call] of Object.entries(contestants)) {
        const time = await cpuOf(call)
        // The first round only warms up.
        times.set(name, round === 0 ? [] : [...(times.get(name) ?? []), time])
      }
    }
    if (watcher.snapshot().up !== true) throw new Error('the server was not read')
    const rows = [...times].map(([name, all]) => ({ name, cpu: median(all) }))
    for (const { name, cpu } of rows) {
      console.log(`${name.padEnd(32)}${cpu.toFixed(0).padStart(5)} µs CPU per poll (${(cpu / (rows[0]?.cpu ?? 1)).toFixed(2)})`)
    }
  } finally {
    watcher.close()
    child.disconnect()
  }
}
