import { pino } from 'pino'
import { buildApp } from '../src/app.ts'
import { systemClock } from '../src/clock.ts'
import { loadConfig } from '../src/config.ts'
import type { Fields } from '../src/game/fields.ts'
import { launchBrowser } from '../test/helpers/browser.ts'
import { scriptedFleet } from '../test/helpers/scripted-fleet.ts'
import { record } from './results.ts'

const servers = 1_000
const isQuick = process.argv.includes('--quick')
/** Milliseconds for which the memory is watched. */
const watched = isQuick ? 10_000 : 600_000

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly dur?: number
  readonly ts: number
  readonly args: { readonly data?: { readonly functionName?: string } }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
const shown = (value: number, unit: string): string => `${value.toFixed(1)} ${unit}`

/**
 * The page with 1,000 servers in Chromium, by the browser's own tracing: how long until it can be used, how long the main thread is
 * busy for a snapshot, and how its memory grows.
 */
export async function run(): Promise<void> {
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
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    const session = await page.context().newCDPSession(page)
    const loads: number[] = []
    for (let load = 0; load < 5; load++) {
      const started = performance.now()
      await page.goto(url, { waitUntil: 'commit' })
      await page.locator('article.card .past .cells').first().waitFor()
      await page.locator('#connection[data-state=live]').waitFor()
      loads.push(performance.now() - started)
    }
    const interactive = await page.evaluate<number>("performance.getEntriesByType('navigation')[0].domInteractive")
    const finished = await page.evaluate<number>("performance.getEntriesByType('navigation')[0].domComplete")
    console.log(`${servers} servers: interactive ${shown(interactive, 'ms')} (DOM), ${shown(finished, 'ms')} (complete),`)
    console.log(`  ${shown(median(loads), 'ms')} until the cards and the events are there, as the driver of the browser sees it`)

    record(`page of ${servers} servers: interactive`, interactive, 'ms')
    const events: TraceEvent[] = []
    session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
    await session.send('Tracing.start', { traceConfig: { includedCategories: ['devtools.timeline'] } })
    const updates = 50
    for (let update = 0; update < updates; update++) {
      const watcher = fleet.watchers[update % 8]
      const source = script[watcher?.server ?? '']
      if (source !== undefined)
        source.status = { ...source.status, playersOnline: update % 20, tickDurationMean: 0.01 + update / 10_000 } as never
      await watcher?.poll()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const done = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()))
    await session.send('Tracing.end')
    await done
    const tasks = [
      'FunctionCall',
      'RunMicrotasks',
      'FireAnimationFrame',
      'UpdateLayoutTree',
      'Layout',
      'PrePaint',
      'Paint',
      'Layerize',
    ]
    // Nested calls count once: a microtask or frame holds the calls in it.
    const busy = new Map(
      tasks.map((name) => [
        name,
        events.filter((event) => event.name === name).reduce((sum, { dur = 0 }) => sum + dur, 0) / 1_000,
      ]),
    )
    const outer = ['RunMicrotasks', 'FireAnimationFrame', 'UpdateLayoutTree', 'Layout', 'PrePaint', 'Paint', 'Layerize']
    const total = outer.reduce((sum, name) => sum + (busy.get(name) ?? 0), 0)
    console.log(
      `a snapshot takes ${shown(total / updates, 'ms')} of the main thread (limit 5 ms): ${outer.map((name) => `${name} ${((busy.get(name) ?? 0) / updates).toFixed(2)}`).join(', ')}`,
    )

    record(`page of ${servers} servers: main thread per snapshot`, total / updates, 'ms', 'under 5')
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
  } finally {
    await browser.close()
    fleet.close()
    await app.close()
  }
}
