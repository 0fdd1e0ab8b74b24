import { loadavg } from 'node:os'
import { pino } from 'pino'
import { loadConfig } from '../src/config/config.ts'
import type { Fields } from '../src/game/fields.ts'
import { systemClock } from '../src/util/clock.ts'
import { launchBrowser, type Page } from '../test/helpers/browser.ts'
import { scriptedFleet } from '../test/helpers/scripted-fleet.ts'
import { built } from './built.ts'
import type { BenchOptions } from './main.ts'
import { record } from './results.ts'

const { buildApp } = await built<typeof import('../src/app.ts')>('app.js')

type CDPSession = Awaited<ReturnType<ReturnType<Page['context']>['newCDPSession']>>

/** Number of servers, page loads and traced snapshots, and milliseconds for which memory is measured. */
const efforts = {
  full: { servers: 1_000, loadCount: 5, updates: 50, watched: 60_000 },
  quick: { servers: 100, loadCount: 1, updates: 5, watched: 500 },
}

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Microseconds of wall-clock time and of CPU time. */
  readonly dur?: number
  readonly tdur?: number
  readonly args: { readonly name?: string }
}

/** Trace events that occupy the main thread for a snapshot; they are not nested. */
const work = [
  'RunMicrotasks',
  'FireAnimationFrame',
  'UpdateLayoutTree',
  'Layout',
  'PrePaint',
  'Paint',
  'Layerize',
  'IntersectionObserverController::computeIntersections',
]

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
const shown = (value: number, unit: string): string => `${value.toFixed(1)} ${unit}`

/**
 * The page with many servers in Chromium, measured by its tracing: time until it is interactive, main-thread time per snapshot,
 * and memory growth.
 */
export async function run({ quick }: BenchOptions): Promise<void> {
  const { servers, loadCount, updates, watched } = efforts[quick ? 'quick' : 'full']
  const fieldsOf = (index: number): Partial<Fields> => ({
    edition: 'java',
    version: '1.21.11',
    motd: `Server ${index}`,
    playersOnline: index % 20,
    playersMax: 20,
    latency: 0.01,
    tickRate: 20,
    tickDurationMean: 0.01,
  })
  const script = Object.fromEntries(
    Array.from({ length: servers }, (_, index) => [`server-${index}`, { status: fieldsOf(index) }]),
  )
  const fleet = scriptedFleet(script, systemClock)
  const app = await buildApp({ config: loadConfig({ env: {} }), fleet, logger: pino({ level: 'silent' }) })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
  const browser = await launchBrowser()
  try {
    const loads: number[] = []
    const interactive: number[] = []
    const busy: number[] = []
    /** Each load is a first visit: a new page with an empty cache. */
    async function open() {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
      const session = await page.context().newCDPSession(page)
      await session.send('Performance.enable', { timeDomain: 'threadTicks' })
      const started = performance.now()
      await page.goto(url, { waitUntil: 'commit' })
      await page.locator('article.card .past .cells').first().waitFor()
      await page.locator('#connection[data-state=live]').waitFor()
      loads.push(performance.now() - started)
      const { metrics } = (await session.send('Performance.getMetrics')) as {
        metrics: readonly { name: string; value: number }[]
      }
      busy.push(1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN))
      interactive.push(await page.evaluate<number>("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"))
      return { page, session }
    }
    for (let load = 1; load < loadCount; load++) await open().then(({ page }) => page.context().close())
    const { page, session } = await open()
    console.log(
      `${servers} servers: interactive after ${shown(median(interactive), 'ms')} (limit 1000 ms), cards and events there after ${shown(median(loads), 'ms')},`,
    )
    console.log(
      `  of which ${shown(median(busy), 'ms')} CPU of the page's main thread; load of the machine ${loadavg()[0]?.toFixed(1)}`,
    )

    record(`page of ${servers} servers: interactive`, median(interactive), 'ms')
    /** Milliseconds of the main thread per change, as wall-clock and CPU time; and the CPU time by type of work. */
    async function trace(session: CDPSession, change: (index: number) => unknown) {
      const events: TraceEvent[] = []
      const collect = ({ value }: { value: readonly unknown[] }) => void events.push(...(value as readonly TraceEvent[]))
      session.on('Tracing.dataCollected', collect as never)
      const includedCategories = ['devtools.timeline', 'disabled-by-default-devtools.timeline']
      await session.send('Tracing.start', { traceConfig: { includedCategories } })
      for (let index = 0; index < updates; index++) {
        await change(index)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      const done = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()))
      await session.send('Tracing.end')
      await done
      session.off('Tracing.dataCollected', collect as never)
      const main = events.find(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      const ofMain = events.filter(({ ph, pid, tid }) => ph === 'X' && pid === main?.pid && tid === main.tid)
      const sum = (wanted: string, of: 'dur' | 'tdur') =>
        ofMain.reduce((total, event) => total + (event.name === wanted ? (event[of] ?? 0) : 0), 0) / 1_000 / updates
      return {
        elapsed: work.reduce((total, name) => total + sum(name, 'dur'), 0),
        cpu: work.reduce((total, name) => total + sum(name, 'tdur'), 0),
        parts: work.map((name) => `${name.replace(/.*::/, '')} ${sum(name, 'tdur').toFixed(2)}`).join(', '),
      }
    }
    const snapshot = await trace(session, async (index) => {
      const watcher = fleet.watchers[index % 8]
      const source = script[watcher?.server ?? '']
      if (source !== undefined)
        source.status = { ...source.status, playersOnline: index % 20, tickDurationMean: 0.01 + index / 10_000 } as never
      await watcher?.poll()
    })
    console.log(
      `a snapshot takes ${shown(snapshot.elapsed, 'ms')} of the main thread (limit 5 ms), ${shown(snapshot.cpu, 'ms')} of it CPU:`,
    )
    console.log(`  ${snapshot.parts}`)

    record(`page of ${servers} servers: main thread per snapshot`, snapshot.elapsed, 'ms', 'under 5')
    const heap = async () => {
      await session.send('HeapProfiler.collectGarbage')
      const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number }
      return usedSize / 1024 / 1024
    }
    const before = await heap()
    const end = performance.now() + watched
    for (let round = 0; performance.now() < end; round++) {
      for (const watcher of fleet.watchers.slice(0, 100)) {
        const source = script[watcher.server]
        if (source !== undefined) source.status = { ...source.status, playersOnline: round % 20 } as never
        await watcher.poll()
      }
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    const after = await heap()
    record(`page: memory after ${watched / 1000} s of events, after / before`, after / before, 'ratio')
    console.log(`memory after ${watched / 1000} s of events: ${shown(before, 'MiB')} before, ${shown(after, 'MiB')} after`)
    // The minimum for comparison: one number in a page with one element.
    await page.context().close()
    const empty = await browser.newPage()
    await empty.setContent('<!doctype html><title>One number</title><b>0</b>')
    const least = await trace(await empty.context().newCDPSession(empty), (index) =>
      empty.evaluate(`requestAnimationFrame(() => { document.querySelector('b').firstChild.nodeValue = ${index} })`),
    )
    console.log(
      `a snapshot takes ${(snapshot.cpu / least.cpu).toFixed(1)} times the CPU of changing one number in an empty page (${shown(least.cpu, 'ms')})`,
    )
  } finally {
    await browser.close()
    fleet.close()
    await app.close()
  }
}
