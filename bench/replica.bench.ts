import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { ServerSettings } from '../src/game/server-settings.ts'
import { isInstalled } from '../test/helpers/require-tool.ts'
import { hostOf } from './fleet/hosts.ts'
import type { LoadOrder, LoadResult } from './fleet/load.ts'
import { readOptions } from './options.ts'
import { startOther, startService } from './processes.ts'
import type { OthersOrder } from './replica/others.ts'
import { type BenchRedis, startBenchRedis } from './replica/redis.ts'
import { record } from './results.ts'
import { nextMessage } from './wait.ts'

/** Measurements by the process of the service. Times in milliseconds. */
interface Measured {
  readonly cpuSeconds: number
  readonly seconds: number
  readonly memory: NodeJS.MemoryUsage
  /** From when polls were due to their end. */
  readonly lateP50: number
  readonly lateP99: number
  /** From when polls were due to their start. */
  readonly startP99: number
  readonly polls: number
  readonly failed: number
  /** From when snapshots were created by other replicas to when they can be read here. */
  readonly ageP50: number
  readonly ageP99: number
  readonly received: number
  readonly delayP99: number
  readonly delayMax: number
}

interface Scenario {
  readonly size: number
  readonly replicas: number
  /** Milliseconds. */
  readonly interval: number
  /** Milliseconds. */
  readonly heartbeat: number
  /** Distinct icons. */
  readonly icons: number
  readonly seconds: number
  /** Folder for the history; absent: in memory only. */
  readonly historyFolder?: string
}

/** A busy machine takes a minute even for a quick run. */
const maxStartMs = 180_000

const mib = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MiB`
const cores = ({ cpuSeconds, seconds }: { readonly cpuSeconds: number; readonly seconds: number }) => cpuSeconds / seconds

function printMeasured(stage: string, measured: Measured): void {
  const { memory, lateP50, lateP99, startP99, polls, failed, ageP50, ageP99, received, delayP99, delayMax, seconds } = measured
  console.log(
    `  ${stage.padEnd(8)} ${cores(measured).toFixed(3)} cores; RSS ${mib(memory.rss)} (heap ${mib(memory.heapUsed)}/${mib(memory.heapTotal)}, buffers ${mib(memory.arrayBuffers)}, ext ${mib(memory.external)}); ` +
      `late p50 ${lateP50.toFixed(0)} p99 ${lateP99.toFixed(0)} ms, started p99 ${startP99.toFixed(0)} ms; loop p99 ${delayP99.toFixed(1)} max ${delayMax.toFixed(0)} ms; ` +
      `${(polls / seconds).toFixed(0)} polls/s, ${failed} failed; ${(received / seconds).toFixed(0)} snapshots/s received, age p50 ${ageP50.toFixed(0)} p99 ${ageP99.toFixed(0)} ms`,
  )
}

interface Replies {
  readonly own: readonly number[]
  readonly others: readonly number[]
}

/** Milliseconds that each request for everything of a random server took, sorted: alternately of one that it polls and of another. */
async function measureReplies(url: string, own: readonly string[], others: readonly string[], seconds: number): Promise<Replies> {
  const dispatcher = new Agent({ connections: 1 })
  const took = { own: [] as number[], others: [] as number[] }
  const end = performance.now() + seconds * 1_000
  for (let turn = 0; performance.now() < end; turn++) {
    // On a busy machine one replica may poll all servers for a while.
    const isOwn = others.length === 0 || (own.length > 0 && turn % 2 === 0)
    const [names, times] = isOwn ? [own, took.own] : [others, took.others]
    const begun = performance.now()
    const path = `/api/v1/servers/${names[Math.floor(Math.random() * names.length)]}/getall`
    const { body, statusCode } = await request(url + path, { dispatcher })
    await body.dump()
    if (statusCode !== 200) throw new Error(`GET ${path}: ${statusCode}`)
    times.push(performance.now() - begun)
    await setTimeout(10)
  }
  await dispatcher.close()
  const sort = (times: readonly number[]) => times.toSorted((a, b) => a - b)
  return { own: sort(took.own), others: sort(took.others) }
}

const p99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
const worst = (sorted: readonly number[]): number => sorted.at(-1) ?? Number.NaN

async function measure({ size, replicas, interval, heartbeat, icons, seconds, historyFolder }: Scenario, redis: BenchRedis) {
  const children: ChildProcess[] = []
  const begun = performance.now()
  /** Printed so that a run that does not finish shows where it hangs. */
  const printStage = (stage: string) => console.log(`  [${((performance.now() - begun) / 1_000).toFixed(1)} s] ${stage}`)
  const started = (child: ChildProcess) => {
    children.push(child)
    return child
  }
  try {
    const game = started(startOther('fleet/game-servers.ts', [String(icons)]))
    const ports = await nextMessage<{ status: number }>(game)
    const servers: readonly ServerSettings[] = Array.from({ length: size }, (_, index) => ({
      name: `s${index}`,
      sources: { status: { address: { edition: 'java', host: hostOf(index), port: ports.status } } },
    }))
    const env = {
      ...{ POLL_INTERVAL: `${interval}ms`, STATE_URL: redis.url, STATE_HEARTBEAT: `${heartbeat}ms` },
      ...(historyFolder && { HISTORY_DIR: historyFolder }),
    }
    const others = started(startOther('replica/others.ts'))
    others.send({ stateUrl: redis.url, servers, replicas: replicas - 1, icons, env } satisfies OthersOrder)
    await nextMessage(others, maxStartMs)
    printStage(`${replicas - 1} replicas have published ${size} servers`)

    const service = started(startService('replica/service.mjs'))
    service.send({ servers, replicas, env })
    const { url } = await nextMessage<{ url: string }>(service)
    const read = async () => {
      service.send('measure')
      return await nextMessage<Measured>(service)
    }
    await read()
    printStage('the service listens')
    service.send('start')
    const { completeMs, own } = await nextMessage<{ completeMs: number; own: readonly string[] }>(service, maxStartMs)
    printStage(`it has polled its ${own.length} servers and received the others, after ${completeMs.toFixed(0)} ms`)
    printMeasured('start', await read())
    // The first polls show when the next ones are due.
    await setTimeout(interval)
    await read()
    const redisBefore = await redis.usage()
    await setTimeout(seconds * 1_000)
    const polling = await read()
    const redisAfter = await redis.usage()
    printMeasured('polling', polling)

    const load = started(startOther('fleet/load.ts'))
    const scrapeEveryMs = (seconds * 1_000) / 4
    load.send({ url, eventClients: 0, servers: size, scrapeEveryMs, scrapes: 3 } satisfies LoadOrder)
    await nextMessage(load)
    await nextMessage(load)
    await read()
    load.send('scrape')
    const finished = once(load, 'message')
    const isOwn = new Set(own)
    const mirrored = servers.flatMap(({ name }) => (isOwn.has(name) ? [] : [name]))
    const replies = await measureReplies(url, own, mirrored, seconds)
    printMeasured('loaded', await read())
    const [{ scrapes }] = (await finished) as [LoadResult]
    const redisUsage = { rss: redisAfter.rss, cores: (redisAfter.cpuSeconds - redisBefore.cpuSeconds) / polling.seconds }
    return { own: own.length, completeMs, polling, replies, scrapes, redis: redisUsage }
  } finally {
    for (const child of children) if (child.connected) child.disconnect()
  }
}

/**
 * One replica of several: it polls its share of simulated servers, publishes their snapshots to a real Redis server and receives
 * those of all others. The other replicas are one process. `--servers=`, `--replicas=`, `--interval=` (ms), `--icons=` (distinct
 * icons of 8 kB; default a quarter of the servers), `--seconds=` and `--history=` (folder; default: in memory) select what is measured.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  if (!isInstalled('redis-server')) {
    console.log('  Skipped (0 results): redis-server is not installed.')
    return
  }
  const { text, number } = readOptions('servers', 'replicas', 'interval', 'icons', 'seconds', 'history')
  const historyFolder = text('history')
  const size = number('servers', quick ? 20 : 50_000)
  const replicas = number('replicas', quick ? 2 : 4)
  const interval = number('interval', quick ? 500 : 15_000)
  const scenario = {
    ...{ size, replicas, interval },
    heartbeat: quick ? 300 : 5_000,
    icons: number('icons', size / 4),
    seconds: number('seconds', quick ? 0.4 : 15),
    ...(historyFolder !== undefined && { historyFolder }),
  }
  const redis = await startBenchRedis()
  try {
    const result = await measure(scenario, redis)
    const { own, completeMs, polling, replies, scrapes } = result
    const base = `one replica of ${replicas}, ${size} servers every ${interval / 1_000} s`
    const isGoal = size === 50_000 && replicas === 4 && interval === 15_000
    const put = (what: string, value: number, unit: string, goal?: string) =>
      record(`${base}: ${what}`, value, unit, isGoal ? goal : undefined)
    put('own servers', own, 'servers')
    put('processors', cores(polling), 'cores', 'under 0.6')
    put('memory (RSS)', polling.memory.rss / 1_048_576, 'MiB')
    put('heap', polling.memory.heapUsed / 1_048_576, 'MiB')
    put('own servers polled once and all others received after', completeMs, 'ms')
    put('poll due to start, 99 %', polling.startP99, 'ms')
    put('poll due to done, 50 %', polling.lateP50, 'ms')
    put('poll due to done, 99 %', polling.lateP99, 'ms', 'under 500')
    put('event-loop delay, 99 %', polling.delayP99, 'ms')
    put('event-loop delay, worst', polling.delayMax, 'ms')
    put('snapshot of another replica, created to readable, 99 %', polling.ageP99, 'ms')
    put('getall of its own servers under load, 99 %', p99(replies.own), 'ms')
    put('getall of its own servers under load, worst', worst(replies.own), 'ms')
    put('getall of other servers under load, 99 %', p99(replies.others), 'ms')
    put('getall of other servers under load, worst', worst(replies.others), 'ms')
    put('first scrape', scrapes[0] ?? Number.NaN, 'ms')
    put('later scrapes, worst', worst(scrapes.slice(1).toSorted((a, b) => a - b)), 'ms')
    put('processors of Redis', result.redis.cores, 'cores')
    put('memory of Redis (RSS)', result.redis.rss / 1_048_576, 'MiB')
    const show = (times: readonly number[]) =>
      `p99 ${p99(times).toFixed(1)} worst ${worst(times).toFixed(0)} ms of ${times.length}`
    console.log(
      `  getall of own servers ${show(replies.own)}, of others ${show(replies.others)}; scrapes ${scrapes.map((ms) => ms.toFixed(0)).join(' ')} ms; ` +
        `Redis ${result.redis.cores.toFixed(3)} cores, ${mib(result.redis.rss)}`,
    )
  } finally {
    redis.close()
  }
}
