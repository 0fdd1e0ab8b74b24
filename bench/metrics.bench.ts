import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { Counter, Gauge, Registry } from 'prom-client'
import { serverFamilies } from '../exporter/families/index.ts'
import { createFleetWriter } from '../exporter/fleet-text.ts'
import { toChunks } from '../exporter/metrics-route.ts'
import { knownValue } from '../exporter/text.ts'
import type { Fields } from '../src/game/fields.ts'
import { merge } from '../src/game/merge.ts'
import type { ServerSnapshot } from '../src/game/snapshot.ts'
import type { BenchOptions } from './main.ts'
import { record } from './results.ts'

/** Numbers of servers, and milliseconds per measurement. */
const efforts = {
  full: { sizes: [10, 100, 1_000, 10_000], budget: 1_000, minRounds: 7 },
  quick: { sizes: [10], budget: 10, minRounds: 2 },
}

/** A Paper server with status and RCON at poll `round`: each round has different values. */
function snapshotOf(index: number, round: number): ServerSnapshot {
  const vary = ((index * 7_919 + round * 104_729) % 10_007) / 10_007
  const fields: Partial<Fields> = {
    edition: 'java',
    version: '1.21.11',
    protocol: 774,
    software: 'Paper',
    loader: 'Paper',
    playersOnline: Math.round(vary * 100),
    playersMax: 100,
    latency: 0.001 + vary / 1_000,
    tickCount: { ticks: 1_000_000 + round * 300 + index, at: 0 },
    tickRate: 19 + vary,
    tickRateTarget: 20,
    tickDurationMean: vary / 20,
    tickDurationP50: vary / 25,
    tickDurationP95: vary / 15,
    tickDurationP99: vary / 10,
    tickFrozen: false,
    tickSprinting: false,
    tickPaused: false,
    paperTickRates: { '1m': 19 + vary, '5m': 19.5, '15m': 19.9 },
    worldDay: round,
    worldTimeOfDay: Math.round(vary * 23_999),
  }
  const source = (name: 'status' | 'rcon') => ({ source: name, target: 'host:1', state: 'ok' as const, duration: 0.01 * vary })
  return {
    server: `server-${index}`,
    at: round,
    fields: merge([
      { source: 'status', at: round, fields },
      { source: 'rcon', at: round, fields },
    ]),
    sources: [source('status'), source('rcon')],
    up: true,
    lastContact: { at: round, wall: 1_700_000_000_000 + round * 5_000 },
    pollDuration: 0.01 + vary / 100,
    polls: { ok: round + 1 },
    joins: round,
    leaves: round,
  }
}

/** prom-client rendering the same series, set on each scrape as in an exporter that reads gauges on collect. */
function createPromClient() {
  const registry = new Registry()
  const metrics = serverFamilies.map(({ name, help, type, labels }) => {
    const options = { name, help, labelNames: ['server', ...labels], registers: [registry] }
    return type === 'gauge' ? new Gauge(options) : new Counter(options)
  })
  return (snapshots: readonly ServerSnapshot[]): Promise<string> => {
    serverFamilies.forEach((family, index) => {
      const metric = metrics[index]!
      metric.reset()
      for (const snapshot of snapshots) {
        family.read(snapshot, (value, ...labels) => {
          const known = knownValue(value)
          if (known === undefined) return
          const given = Object.fromEntries([
            ['server', snapshot.server],
            ...family.labels.map((label, position) => [label, labels[position] ?? '']),
          ])
          if (metric instanceof Gauge) metric.set(given, known)
          else metric.inc(given, known)
        })
      }
    })
    return registry.metrics()
  }
}

/**
 * Median milliseconds of each, run in turns, so that other load on the machine affects all of them. `prepare` before each run is
 * not measured.
 */
async function medians(
  runs: readonly (() => unknown)[],
  { budget, minRounds }: { readonly budget: number; readonly minRounds: number },
  prepare: () => void = () => {},
): Promise<readonly number[]> {
  const times = runs.map((): number[] => [])
  const end = performance.now() + budget * runs.length
  for (let round = 0; round < minRounds || (performance.now() < end && round < 300); round++) {
    for (const [index, run] of runs.entries()) {
      prepare()
      const started = performance.now()
      await run()
      times[index]?.push(performance.now() - started)
    }
  }
  return times.map((all) => all.sort((x, y) => x - y)[Math.floor(all.length / 2)] ?? 0)
}

/** A server that answers with the result of `body`; the returned function fetches it once over a keep-alive connection. */
async function overHttp(body: () => Buffer | Readable) {
  // Kept open while the next texts are prepared, which takes seconds for thousands of servers.
  const server = createServer({ keepAliveTimeout: 0 }, (_, reply) => {
    const text = body()
    if (text instanceof Readable) text.pipe(reply)
    else reply.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const fetchOnce = () =>
    new Promise<void>((resolve, reject) => {
      request({ host: '127.0.0.1', port }, (reply) => reply.resume().on('end', resolve))
        .on('error', reject)
        .end()
    })
  return { fetchOnce, close: () => server.close() }
}

/** Prints scrape time and size of the watched fleet at several sizes, as ratios. */
export async function run({ quick }: BenchOptions): Promise<void> {
  const { sizes, ...effort } = efforts[quick ? 'quick' : 'full']
  for (const size of sizes) {
    let round = 0
    const at = (poll: number) => Array.from({ length: size }, (_, index) => snapshotOf(index, poll))
    let snapshots = at(0)
    const write = createFleetWriter(serverFamilies)
    const bytes = () => Buffer.concat([...write(snapshots, 'prometheus')])
    const prom = createPromClient()
    const promText = await prom(snapshots)
    const lines = (given: string) => given.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
    const ours = bytes()
    if (lines(promText) !== lines(ours.toString())) throw new Error(`${lines(promText)} and ${lines(ours.toString())} series`)

    const single = await overHttp(() => ours)
    const streamed = await overHttp(() => Readable.from(toChunks(write(snapshots, 'prometheus')), { objectMode: false }))
    const runs = [bytes, () => prom(snapshots), single.fetchOnce, streamed.fetchOnce]
    const times = await medians(runs, effort, () => {
      snapshots = at(++round)
    })
    const [rendered = 0, theirs = 0, singleTime = 0, streamedTime = 0] = times
    single.close()
    streamed.close()

    const parts = [...write(snapshots, 'prometheus')].map((part) => part.length)
    record(`exposition of ${size} servers`, rendered, 'ms')
    record(`exposition of ${size} servers: prom-client / ours`, theirs / rendered, 'ratio')
    record(`exposition of ${size} servers over HTTP: streamed / one Buffer made before`, streamedTime / singleTime, 'ratio')
    console.log(
      [
        `${size} servers: ${lines(promText)} series, ${(ours.length / 1024).toFixed(0)} KiB in ${parts.length} parts`,
        `  prom-client / ours, rendering:             ${(theirs / rendered).toFixed(1)} (${theirs.toFixed(2)} ms / ${rendered.toFixed(2)} ms)`,
        `  ours streamed / one Buffer, over HTTP:     ${(streamedTime / singleTime).toFixed(1)} (${streamedTime.toFixed(2)} ms / ${singleTime.toFixed(2)} ms)`,
      ].join('\n'),
    )
  }
}
