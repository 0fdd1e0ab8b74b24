import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'libsql'
import type { ServerSnapshot } from '../src/game/snapshot.ts'
import type { History } from '../src/history/history.ts'
import { silentLog } from '../src/util/log.ts'
import { built } from './built.ts'
import { readOptions } from './options.ts'
import { record } from './results.ts'

const { openHistory } = await built<typeof import('../src/history/history.ts')>('history/history.js')
const { HistoryStore } = await built<typeof import('../src/history/store/store.ts')>('history/store/store.js')
const { levels } = await built<typeof import('../src/history/values/levels.ts')>('history/values/levels.js')

const minute = 60_000
const day = 86_400_000
const pollInterval = 5_000

let wall = Date.UTC(2026, 0, 1, 12)
const clock = { now: () => wall, wall: () => wall, after: () => () => {} }

function snapshotOf(server: string): ServerSnapshot {
  const vary = (wall / 5_000) % 1_000
  const field = <T>(value: T) => ({ value, source: 'status' as const, at: wall })
  return {
    ...{ server, at: wall, up: true, sources: [], polls: {}, lastContact: { at: wall, wall } },
    fields: { playersOnline: field(vary), latency: field(0.001 + vary / 1e6) },
  }
}

/** As much as 400 days of polling leave, made by the database itself. */
function fill(path: string, names: readonly string[]): void {
  const store = new HistoryStore({ path })
  store.servers(names)
  store.close()
  const db = new Database(path)
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000')
  for (const { table, step, span } of levels) {
    const first = Math.floor((wall - span) / step) * step + step
    db.exec(`WITH RECURSIVE starts (time) AS (SELECT ${first} UNION ALL SELECT time + ${step} FROM starts WHERE time + ${step} < ${wall})
      INSERT INTO ${table} (time, server, known_ms, up_ms, players_known_ms, players_mean, players_min, players_max,
        latency_known_ms, latency_mean, latency_min, latency_max)
      SELECT time, id, ${step}, ${step}, ${step}, 51.2 + id % 7, 50, 57, ${step}, 15.34 + id % 5, 1.25, 23.5 FROM starts CROSS JOIN servers`)
  }
  db.exec(`UPDATE servers SET first_at = ${wall - 400 * day}, record_players = 57, record_at = ${wall - day}`)
  db.close()
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/**
 * Repeats an action. Other programs on the machine make the longest block of the event loop much longer in some of the rounds.
 * @returns the longest block of the median round, milliseconds
 */
async function longestBlock(rounds: number, action: () => Promise<unknown>): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  const longest: number[] = []
  for (let round = 0; round < rounds; round++) {
    delays.reset()
    await action()
    // The end of a block is noticed by a timer.
    await delay(5)
    longest.push(delays.max / 1e6)
  }
  delays.disable()
  return longest.sort((a, b) => a - b)[rounds >> 1] ?? Number.NaN
}

/** Polls all servers for a minute. @param write called for each 200 servers once, evenly, as the service does */
async function poll(names: readonly string[], observe: (snapshot: ServerSnapshot) => void, write: () => Promise<void>) {
  let observed = 0
  for (let passed = 0; passed < minute; passed += pollInterval) {
    for (const name of names) {
      observe(snapshotOf(name))
      observed++
      if (observed % 50 === 0) await nextTurn()
      if (observed % (200 * (minute / pollInterval)) === 0) await write()
    }
    wall += pollInterval
  }
}

/**
 * What it costs to keep 400 days of many servers: memory, disk, CPU and the longest time for which the event loop is blocked.
 * `--servers=` (default 10,000) says how many.
 */
export async function run({ quick = false }: { readonly quick?: boolean } = {}): Promise<void> {
  const { number } = readOptions('servers')
  const count = number('servers', quick ? 200 : 10_000)
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-bench-'))
  const names = Array.from({ length: count }, (_, index) => `server-${index}`)
  try {
    fill(join(folder, 'history.db'), names)
    const disk = readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
    record('disk for each server', disk / count / 1024, 'KiB')

    const listeners = new Set<(snapshot: ServerSnapshot) => void>()
    const watchers = names.map((server) => ({ server, snapshot: () => snapshotOf(server) }))
    const fleet = {
      ...{ watchers, servers: [], onChange: () => () => {}, get: () => undefined },
      subscribe(listener: (snapshot: ServerSnapshot) => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    }
    const actions: (() => void)[] = []
    const timers = {
      ...clock,
      after(_: number, action: () => void) {
        actions.push(action)
        return () => {}
      },
    }
    const minutes = quick ? 1 : 5
    const pollOnly = () =>
      poll(
        names,
        () => {},
        async () => {},
      )
    await pollOnly()
    const withoutStart = cpuMs()
    const blockWithout = await longestBlock(minutes, pollOnly)
    const without = cpuMs() - withoutStart

    const rssBefore = process.memoryUsage().rss
    const history: History = await openHistory({ fleet: fleet as never, clock: timers, folder, log: silentLog })
    const observe = (snapshot: ServerSnapshot) => {
      for (const listener of listeners) listener(snapshot)
    }
    /** Each schedules the next one. Time runs faster here than the thread writes, so it waits for that. */
    const write = async () => {
      actions.shift()?.()
      await history.peak(0, 0)
    }
    await poll(names, observe, write)
    const recordingStart = cpuMs()
    const block = await longestBlock(minutes, () => poll(names, observe, write))
    const recording = (cpuMs() - recordingStart - without) / minutes
    const ofCore = recording / minute
    console.log(
      `${count} servers, 400 days: ${(disk / count / 1024).toFixed(0)} KiB on disk for each; recording takes ${(100 * ofCore).toFixed(2)} % of a core`,
    )
    record('recording', ofCore, 'cores', '0.02')
    const memory = (process.memoryUsage().rss - rssBefore) / count / 1024
    console.log(
      `  memory ${memory.toFixed(1)} KiB for each; longest block of the event loop in the median round ${block.toFixed(1)} ms, without history ${blockWithout.toFixed(1)} ms; load of the machine ${loadavg()[0]?.toFixed(1)}`,
    )
    record('memory for each server', memory, 'KiB', '10')
    record('longest block of the event loop while recording', block, 'ms', '10')

    const server = names[5] ?? ''
    let blockOfReading = 0
    const time = async (name: string, action: () => Promise<unknown>) => {
      const times: number[] = []
      const block = await longestBlock(quick ? 2 : 10, async () => {
        const begun = performance.now()
        await action()
        times.push(performance.now() - begun)
      })
      blockOfReading = Math.max(blockOfReading, block)
      times.sort((a, b) => a - b)
      const median = times[times.length >> 1] ?? Number.NaN
      console.log(`  ${name}: ${median.toFixed(1)} ms, at most ${times.at(-1)?.toFixed(1)} ms, in its thread`)
      record(`${name}, in its thread`, median, 'ms')
    }
    const all = ['players', 'latency', 'tickRate', 'tickTimeMean', 'tickTimeP99'] as const
    await time('history of an hour', () => history.range(server, { names: all, range: 60 * minute, points: 360 }))
    await time('history of a day', () => history.range(server, { names: all, range: day, points: 240 }))
    await time('history of 7 days', () => history.range(server, { names: all, range: 7 * day, points: 1_000 }))
    await time('uptime of 400 days', () => history.uptime(server, 400))
    await time('overview of 24 servers', () => {
      wall += minute
      return history.overview(names.slice(0, 24))
    })
    await time('players of all servers', () => history.playerCounts(8))
    console.log(`  longest block of the event loop by these, in the median round: ${blockOfReading.toFixed(1)} ms`)
    record('longest block of the event loop while reading', blockOfReading, 'ms', '10')
    await history.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
}
