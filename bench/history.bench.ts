import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerSnapshot } from '../src/game/snapshot.ts'
import { silentLog } from '../src/util/log.ts'
import { built } from './built.ts'
import { record } from './results.ts'

const { openHistory } = await built<typeof import('../src/history/history.ts')>('history/history.js')
const { createHistoryFile } = await built<typeof import('../src/history/file.ts')>('history/file.js')
const { createRecordedServer } = await built<typeof import('../src/history/recorded-server.ts')>('history/recorded-server.js')
const { levels } = await built<typeof import('../src/history/levels.ts')>('history/levels.js')
const { summarise } = await built<typeof import('../src/web/pictures/summary.ts')>('web/pictures/summary.js')
const { drawBanner } = await built<typeof import('../src/web/pictures/banner.ts')>('web/pictures/banner.js')
const { drawChart } = await built<typeof import('../src/web/pictures/chart.ts')>('web/pictures/chart.js')
const { themes } = await built<typeof import('../src/web/pictures/theme.ts')>('web/pictures/theme.js')

const day = 86_400_000
const end = Date.UTC(2026, 0, 1, 12)
const poll = { interval: 5_000, timeout: 3_000, staleAfter: 15_000 }

let wall = end - 400 * day
const clock = { now: () => wall, wall: () => wall, after: () => () => {} }

function snapshotOf(server: string): ServerSnapshot {
  const vary = (wall / 5_000) % 1_000
  const field = <T>(value: T) => ({ value, source: 'status' as const, at: wall })
  return {
    server,
    at: wall,
    up: true,
    sources: [],
    polls: {},
    lastContact: { at: wall, wall },
    fields: {
      playersOnline: field(vary),
      motd: field('§6§lA Minecraft Server §r§7of many words\n§aand §nanother§r line of it'),
      latency: field(0.001 + vary / 1e6),
      tickRate: field(19 + vary / 1_000),
      tickDurationMean: field(0.01 + vary / 1e5),
      tickDurationP99: field(0.03 + vary / 1e5),
    },
  }
}

const listed = { subscribe: () => () => {}, onChange: () => () => {}, servers: [] }

/** Time to load 400 days of many servers, their size in memory and on disk, and the time to render a picture. */
export async function run({ quick = false }: { readonly quick?: boolean } = {}): Promise<void> {
  const count = quick ? 3 : 100
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-bench-'))
  try {
    const names = Array.from({ length: count }, (_, index) => `server-${index}`)
    for (const name of names) {
      const recorded = createRecordedServer({ clock, ...poll, file: createHistoryFile(folder, name), log: silentLog })
      await recorded.load()
      // A few polls of each day, then each bucket of the finer levels, then as much as is appended before the file is rewritten.
      const steps = [
        ...Array.from({ length: 392 }, () => day),
        ...Array.from({ length: 7 * 144 }, () => levels[2].step),
        ...Array.from({ length: 12 * 60 }, () => levels[1].step),
      ]
      wall = end - steps.reduce((sum, step) => sum + step, 0) - 7 * 3_600_000
      for (const step of steps) {
        recorded.observe(snapshotOf(name))
        wall += 5_000
        recorded.observe(snapshotOf(name))
        wall += 5_000
        recorded.observe({ ...snapshotOf(name), up: undefined as never })
        wall += step - 10_000
      }
      await recorded.tidy()
      for (let added = 0; added < 2_000; added++) {
        recorded.observe(snapshotOf(name))
        wall += 5_000
        recorded.observe(snapshotOf(name))
        wall += 5_000
        if (added % 100 === 99) await recorded.save()
      }
      await recorded.save()
    }
    const disk = readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
    const watchers = names.map((server) => ({ server, settings: poll, snapshot: () => snapshotOf(server) }))
    const fleet = { ...listed, watchers, get: (name: string) => watchers.find(({ server }) => server === name) }
    const [started, cpuBefore] = [performance.now(), process.cpuUsage()]
    const history = await openHistory({ fleet: fleet as never, clock, folder, log: silentLog })
    const elapsed = performance.now() - started
    const { user, system } = process.cpuUsage(cpuBefore)
    const bytes = history.bytes()
    const [startedReading, cpuBeforeReading] = [performance.now(), process.cpuUsage()]
    await Promise.all(names.map((name) => createHistoryFile(folder, name).load(() => {})))
    const reading = performance.now() - startedReading
    const readingCpu = process.cpuUsage(cpuBeforeReading)
    console.log(
      `400 days of ${count} servers: loaded in ${(elapsed / 1000).toFixed(2)} s (${((user + system) / 1e6).toFixed(2)} s CPU); each ${(bytes / count / 1024).toFixed(1)} KiB in memory, ${(disk / count / 1024).toFixed(0)} KiB on disk`,
    )
    console.log(
      `  ${(elapsed / reading).toFixed(1)} times as long as reading the files and checking their checksums, ${((user + system) / (readingCpu.user + readingCpu.system)).toFixed(1)} times the CPU; load of the machine ${loadavg()[0]?.toFixed(1)}`,
    )
    record(`400 days of ${count} servers: load`, user / 1e3 + system / 1e3, 'ms CPU')
    record('400 days of a server: memory', bytes / count / 1024, 'KiB')
    const time = (name: string, action: () => unknown) => {
      const times = Array.from({ length: quick ? 3 : 50 }, () => {
        const [begun, cpuBefore] = [performance.now(), process.cpuUsage()]
        action()
        const { user, system } = process.cpuUsage(cpuBefore)
        return { elapsed: performance.now() - begun, cpu: (user + system) / 1_000 }
      })
      const [first = { elapsed: Number.NaN, cpu: Number.NaN }] = times
      const sorted = times.map(({ elapsed }) => elapsed).toSorted((a, b) => a - b)
      record(`${name}: on the event loop`, sorted[sorted.length >> 1] ?? Number.NaN, 'ms')
      console.log(
        `${name}: ${sorted[sorted.length >> 1]?.toFixed(2)} ms on the event loop, the first time ${first.elapsed.toFixed(1)} ms (${first.cpu.toFixed(1)} ms CPU)`,
      )
    }
    const server = names[0] ?? ''
    const range = { names: ['players', 'latency'] as const, range: 7 * day, points: 1_000 }
    time('history of 7 days', () => history.range(server, range))
    const summary = summarise(snapshotOf(server))
    time('banner', () => drawBanner(summary, Buffer.alloc(8_000), 1_200, themes.dark))
    const values = history.range(server, { ...range, points: 400 })
    time('chart', () => drawChart({ server, values, width: 1_600, height: 800, theme: themes.light }))
    await history.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
}
