import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { ServerSettings } from '../src/game/server-settings.ts'
import { hostOf } from './fleet/hosts.ts'
import type { LoadOrder, LoadResult } from './fleet/load.ts'
import { readOptions } from './options.ts'
import { startOther, startScript, startService } from './processes.ts'
import { record } from './results.ts'
import { nextMessage } from './wait.ts'

/** Measurements by the process of the service. */
interface Measured {
  readonly cpuSeconds: number
  readonly userSeconds: number
  readonly seconds: number
  readonly rss: number
  readonly memory: NodeJS.MemoryUsage
  /** Milliseconds from when each poll was due to its end, sorted. */
  readonly late: readonly number[]
  readonly polls: number
  readonly failed: number
  readonly delayP99: number
  readonly delayMax: number
}

/** What polling costs with bare sockets. */
interface Bare {
  readonly cpuSeconds: number
  readonly polls: number
  readonly seconds: number
}

const at = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN

const mib = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MiB`

/** Microseconds. */
const cpuPerPoll = ({ cpuSeconds, polls }: Pick<Bare, 'cpuSeconds' | 'polls'>): number => (cpuSeconds / polls) * 1e6

/** Milliseconds that each request for everything of a random server took, sorted. */
async function measureReplies(url: string, servers: number, seconds: number): Promise<readonly number[]> {
  const dispatcher = new Agent({ connections: 1 })
  const took: number[] = []
  const end = performance.now() + seconds * 1_000
  while (performance.now() < end) {
    const begun = performance.now()
    const path = `/api/v1/servers/s${Math.floor(Math.random() * servers)}/getall`
    const { body } = await request(url + path, { dispatcher })
    await body.dump()
    took.push(performance.now() - begun)
    await setTimeout(10)
  }
  await dispatcher.close()
  return took.toSorted((a, b) => a - b)
}

/** Prints each measurement immediately: a later stage may not finish. */
const printMeasured = (
  name: string,
  { cpuSeconds, userSeconds, seconds, rss, memory, late, polls, failed, delayP99, delayMax }: Measured,
) =>
  console.log(
    `  ${name.padEnd(9)} ${(cpuSeconds / seconds).toFixed(3)} cores (user ${(userSeconds / seconds).toFixed(3)}), ${cpuPerPoll({ cpuSeconds, polls }).toFixed(0)} µs a poll; RSS ${mib(rss)} (heap ${mib(memory.heapUsed)}/${mib(memory.heapTotal)}, buffers ${mib(memory.arrayBuffers)}, ext ${mib(memory.external)}); ` +
      `late p50 ${at(late, 0.5).toFixed(0)} p99 ${at(late, 0.99).toFixed(0)} max ${at(late, 1).toFixed(0)} ms; loop p99 ${delayP99.toFixed(1)} max ${delayMax.toFixed(0)} ms; ${polls} polls, ${failed} failed`,
  )

async function measureBare(child: ChildProcess, servers: readonly ServerSettings[], interval: number, seconds: number) {
  child.send({ servers, interval })
  await nextMessage(child)
  const read = async () => {
    child.send('measure')
    return await nextMessage<Bare>(child)
  }
  await setTimeout(Math.min(2_000, interval))
  await read()
  await setTimeout(seconds * 1_000)
  const bare = await read()
  child.disconnect()
  return bare
}

interface Scenario {
  readonly size: number
  /** Milliseconds. */
  readonly interval: number
  readonly rcon: number
  /** Distinct icons. */
  readonly icons: number
  readonly eventClients: number
  readonly seconds: number
}

async function measure({ size, interval, rcon, icons, eventClients, seconds }: Scenario) {
  console.log(`${size} servers every ${interval} ms, ${rcon} with RCON`)
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
    const ports = await nextMessage<{ status: number; rcon: number }>(game)
    printStage('the simulated servers listen')
    const servers: readonly ServerSettings[] = Array.from({ length: size }, (_, index) => ({
      name: `s${index}`,
      sources: {
        status: { address: { edition: 'java', host: hostOf(index), port: ports.status } },
        ...(index < rcon && { rcon: { address: { host: hostOf(index), port: ports.rcon }, password: 'secret' } }),
      },
    }))
    const bare = await measureBare(started(startScript('fleet/bare.mjs')), servers, interval, Math.min(seconds, 10))
    printStage('measured bare sockets')
    console.log(
      `  bare      ${(bare.cpuSeconds / bare.seconds).toFixed(3)} cores, ${cpuPerPoll(bare).toFixed(0)} µs a poll; ${bare.polls} polls`,
    )
    const service = started(startService('fleet/service.mjs'))
    service.send({ servers, interval })
    const { url } = await nextMessage<{ url: string }>(service)
    const read = async () => {
      service.send('measure')
      return await nextMessage<Measured>(service)
    }
    await read()
    printStage(`the service listens for ${size} servers`)
    service.send('start')
    const { allPolledMs } = await nextMessage<{ allPolledMs: number }>(service, 2 * interval + 60_000)
    printStage(`all servers have been polled once, after ${allPolledMs.toFixed(0)} ms`)
    printMeasured('start', await read())
    await setTimeout(interval)
    await read()
    await setTimeout(seconds * 1_000)
    const polling = await read()
    printStage('measured while polling')
    printMeasured('polling', polling)

    const load = started(startOther('fleet/load.ts'))
    const scrapeEveryMs = Math.min(5_000, (seconds * 1_000) / 3)
    load.send({
      url,
      eventClients,
      servers: size,
      scrapeEveryMs,
      scrapes: Math.max(2, Math.floor((seconds * 1_000) / scrapeEveryMs)),
    } satisfies LoadOrder)
    await nextMessage(load)
    printStage(`${eventClients} event clients have connected`)
    await nextMessage(load, 120_000)
    printStage('the event clients have the states of all servers')
    printMeasured('connect', await read())
    await setTimeout(Math.min(3_000, seconds * 500))
    await read()
    load.send('scrape')
    const finished = once(load, 'message')
    const replies = await measureReplies(url, size, seconds)
    const loaded = await read()
    printStage('measured requests under load')
    printMeasured('loaded', loaded)
    const [result] = (await finished) as [LoadResult]
    printStage('finished')
    return { bare, allPolledMs, polling, replies, result }
  } finally {
    for (const child of children) if (child.connected) child.disconnect()
  }
}

/**
 * The whole service watching simulated servers, at several sizes: only polling, and under load (scrapes, event clients and
 * requests). `--servers=100,1000`, `--interval=` (ms), `--rcon=` (servers with RCON), `--events=` (clients that follow all
 * servers), `--icons=` (distinct icons of 8 kB; default a quarter of the servers) and `--seconds=` select what is measured.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const { text, number } = readOptions('servers', 'interval', 'rcon', 'icons', 'events', 'seconds')
  const sizes = (text('servers') ?? (quick ? '50' : '100,1000,10000')).split(',').map(Number)
  for (const size of sizes) {
    const scenario = {
      size,
      interval: number('interval', quick ? 500 : 5_000),
      rcon: number('rcon', 0),
      icons: number('icons', size / 4),
      eventClients: number('events', quick ? 5 : 100),
      seconds: number('seconds', quick ? 0.5 : 20),
    }
    const { bare, allPolledMs, polling, replies, result } = await measure(scenario)
    const base = `${size} servers every ${scenario.interval / 1_000} s${scenario.rcon > 0 ? `, ${scenario.rcon} with RCON` : ''}`
    const isGoal = size === 10_000 && scenario.interval === 5_000
    const put = (what: string, value: number, unit: string, goal?: string) =>
      record(`${base}: ${what}`, value, unit, isGoal ? goal : undefined)
    put('processors', polling.cpuSeconds / polling.seconds, 'cores', 'under 0.6')
    put('CPU per poll', cpuPerPoll(polling), 'µs CPU')
    put('CPU per poll, service to bare sockets', cpuPerPoll(polling) / cpuPerPoll(bare), 'ratio')
    put('memory (RSS)', polling.rss / 1_048_576, 'MiB', 'under 350')
    put('poll due to done, 99 %', at(polling.late, 0.99), 'ms', 'under 500')
    put('event-loop delay, 99 %', polling.delayP99, 'ms')
    put('event-loop delay, worst', polling.delayMax, 'ms')
    put('all polled once after', allPolledMs, 'ms', `within ${scenario.interval}`)
    put('getall under load, 99 %', at(replies, 0.99), 'ms')
    put('getall under load, worst', at(replies, 1), 'ms', 'under 50')
    put('first scrape', result.scrapes[0] ?? Number.NaN, 'ms', 'under 500')
    put('later scrapes, worst', Math.max(...result.scrapes.slice(1)), 'ms', 'under 500')
    console.log(
      `  getall p50 ${at(replies, 0.5).toFixed(1)} p99 ${at(replies, 0.99).toFixed(1)} worst ${at(replies, 1).toFixed(0)} ms of ${replies.length}; scrapes ${result.scrapes.map((ms) => ms.toFixed(0)).join(' ')} ms, ${mib(result.scrapeBytes)}; ${result.eventClients} event clients, ${mib(result.eventBytes)}`,
    )
  }
}
