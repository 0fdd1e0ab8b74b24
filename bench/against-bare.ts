import { execFile, spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Pool } from 'undici'
import type { DemoServer } from '../src/demo/demo-server.ts'
import type { HostPort } from '../src/util/address.ts'
import { isInstalled } from '../test/helpers/require-tool.ts'
import type { BenchOptions } from './main.ts'
import { startScript } from './processes.ts'
import { record } from './results.ts'
import { endWithParent, nextMessage, waitUntil } from './wait.ts'

interface Effort {
  readonly warmUps: number
  /** Many short turns, because the load of the machine changes. */
  readonly rounds: number
  readonly seconds: number
}

const efforts: Readonly<Record<'full' | 'quick', Effort>> = {
  full: { warmUps: 5, rounds: 15, seconds: 1 },
  quick: { warmUps: 0, rounds: 1, seconds: 0.2 },
}
const connections = 64

const pins = isInstalled('taskset') && availableParallelism() > 1

/** Runs the command on one processor: the servers share one, the load generator has the other, so that they do not compete. */
const pinned = (processor: 0 | 1, command: string, args: readonly string[]): [string, string[]] =>
  pins ? ['taskset', ['-c', String(processor), command, ...args]] : [command, [...args]]

/** The message that `demo-server.mjs` sends. */
type DemoMessage = Pick<DemoServer, 'address' | 'rcon' | 'query' | 'management'>

type Settings = Readonly<Record<string, string>>

/** A server in a separate process. */
export interface Contestant {
  readonly url: string
  readonly pid: number
  end(): void
}

interface Result {
  /** Requests per second. */
  readonly rate: number
  /** CPU microseconds of the server per request: unlike the rate, almost independent of other load on the machine. */
  readonly cost: number
}

/** CPU seconds used by a process, all its running threads, to the nanosecond; only on Linux. */
export async function cpu(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const times = threads.map(async (thread) => {
    const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '')
    return Number(text.split(' ')[0])
  })
  return threads.length === 0 ? Number.NaN : (await Promise.all(times)).reduce((sum, time) => sum + time, 0) / 1e9
}

export const main = join(import.meta.dirname, '..', 'dist', 'src', 'main.js')

/** A demo server in a separate process, and the settings to watch it with all its sources. */
export async function startDemo(): Promise<{ readonly settings: Settings; end(): void }> {
  const child = startScript('demo-server.mjs')
  const { address, rcon, query, management } = await nextMessage<DemoMessage>(child)
  const text = ({ host, port }: HostPort) => `${host}:${port}`
  return {
    settings: {
      MC_SERVER: text(address),
      MC_RCON: text(rcon.address),
      MC_RCON_PASSWORD: rcon.password,
      MC_QUERY: text(query),
      ...(management && { MC_MANAGEMENT: management.url, MC_MANAGEMENT_SECRET: management.secret }),
    },
    end: () => void child.kill(),
  }
}

/** Starts a program that logs its address; resolves at its first reply to `path`. */
export async function startServer(args: readonly string[], settings: Settings, path: string): Promise<Contestant> {
  const command = pinned(0, process.execPath, args)
  const env = { PATH: process.env.PATH, ...settings, HOST: '127.0.0.1', PORT: '0' }
  const child = endWithParent(spawn(...command, { env, stdio: ['ignore', 'pipe', 'inherit'] }))
  const end = () => void child.kill()
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    if (!address.test(output)) output += chunk
  })
  const address = /(?:listens on|listening at) (http:[^" ]+)/
  try {
    await waitUntil('the server to listen', async () => address.test(output))
    const url = `${address.exec(output)?.[1]}${path}`
    // The first poll and loading the data take a moment.
    await waitUntil(`a reply of ${path}`, async () => (await fetch(url)).ok)
    return { url, pid: child.pid ?? 0, end }
  } catch (error) {
    end()
    throw error
  }
}

/** The whole service, watching a demo server with all sources. */
async function startService(path: string, more: Settings): Promise<Contestant> {
  const demo = await startDemo()
  try {
    const service = await startServer([main], { ...demo.settings, ...more }, path)
    const end = () => {
      service.end()
      demo.end()
    }
    return { ...service, end }
  } catch (error) {
    demo.end()
    throw error
  }
}

/** A bare node:http server that sends the same reply as another server. */
async function startBare(like: string): Promise<Contestant> {
  const command = pinned(0, process.execPath, [join(import.meta.dirname, 'bare-server.mjs')])
  const child = endWithParent(spawn(...command, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }))
  const reply = await fetch(like, { headers: { 'accept-encoding': 'identity' } })
  const { connection, date, 'keep-alive': keepAlive, ...headers } = Object.fromEntries(reply.headers)
  child.send({ headers, body: await reply.text() })
  const port = await nextMessage<number>(child)
  return { url: `http://127.0.0.1:${port}/`, pid: child.pid ?? 0, end: () => child.disconnect() }
}

/** Requests per second with wrk, which uses less CPU than the servers. */
async function wrk(url: string, seconds: number): Promise<number> {
  const command = pinned(1, 'wrk', ['-t1', `-c${connections}`, `-d${Math.ceil(seconds)}s`, url])
  const { stdout } = await promisify(execFile)(...command, { timeout: 30_000 })
  if (/Non-2xx/.test(stdout)) throw new Error(stdout)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}

/** The same with undici: the client is slower than the server, so that the ratio is closer to 1. */
async function loop(url: string, seconds: number): Promise<number> {
  const { origin, pathname, search } = new URL(url)
  const pool = new Pool(origin, { connections, headersTimeout: 30_000, bodyTimeout: 30_000 })
  const end = performance.now() + seconds * 1000
  let count = 0
  const client = async () => {
    while (performance.now() < end) {
      await (await pool.request({ path: pathname + search, method: 'GET' })).body.dump()
      count++
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  await pool.close()
  return count / seconds
}

export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/**
 * Prints the cost of GET of a path in the whole service, relative to a bare node:http server that sends the same bytes.
 * @param goal the minimum ratio
 * @param settings additional settings of the service
 */
export async function againstBare(path: string, goal: number, { quick }: BenchOptions, settings: Settings = {}): Promise<void> {
  const { warmUps, rounds, seconds } = efforts[quick ? 'quick' : 'full']
  const load = isInstalled('wrk') && !quick ? wrk : loop
  const measure = async ({ url, pid }: Contestant): Promise<Result> => {
    const before = await cpu(pid)
    const rate = await load(url, seconds)
    return { rate, cost: ((await cpu(pid)) - before) / ((rate * seconds) / 1e6) }
  }
  const service = await startService(path, settings)
  const bare = await startBare(service.url).catch((error: unknown) => {
    service.end()
    throw error
  })
  try {
    // Warm-up: a service runs for days, so only optimised code is measured.
    for (let round = 0; round < warmUps; round++) for (const { url } of [service, bare]) await load(url, seconds)
    const results: { service: Result; bare: Result }[] = []
    for (let round = 0; round < rounds; round++) results.push({ service: await measure(service), bare: await measure(bare) })
    const show = (name: string, pick: (result: (typeof results)[number]) => Result) => {
      const [rate, cost] = [
        median(results.map((result) => pick(result).rate)),
        median(results.map((result) => pick(result).cost)),
      ]
      console.log(`  ${name} ${Math.round(rate)} requests/s, ${cost.toFixed(1)} µs CPU per request`)
    }
    const ratio = median(results.map((result) => result.service.rate / result.bare.rate))
    const costRatio = median(results.map((result) => result.bare.cost / result.service.cost))
    const least = (pick: (result: (typeof results)[number]) => Result) => Math.min(...results.map((result) => pick(result).cost))
    const undisturbed = least((result) => result.bare) / least((result) => result.service)
    const { length } = await (await fetch(service.url)).text()
    console.log(`GET ${path}, ${length} bytes, ${connections} connections, load by ${load === wrk ? 'wrk' : 'undici'}`)
    record(`GET ${path}: requests per second, service / bare node:http`, ratio, 'ratio', `at least ${goal}`)
    record(`GET ${path}: CPU, bare node:http / service`, costRatio, 'ratio', `at least ${goal}`)
    show('whole service ', (result) => result.service)
    show('bare node:http', (result) => result.bare)
    console.log(
      `  ratio ${ratio.toFixed(2)} by rate, ${costRatio.toFixed(2)} by CPU, ${undisturbed.toFixed(2)} by CPU in the best turn of each (goal: at least ${goal})`,
    )
  } finally {
    service.end()
    bare.end()
  }
}
