import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Pool } from 'undici'
import { hasTool } from '../test/helpers/require-tool.ts'

const warmUps = 5
/** Many and short, in turns: what else a machine does comes and goes. */
const rounds = 15
const seconds = 1
const connections = 64

const pins = hasTool('taskset') && availableParallelism() > 1

/** The command on one processor: the servers share one, the load has the other, so that they never push each other aside. */
const pinned = (processor: 0 | 1, command: string, args: readonly string[]): [string, string[]] =>
  pins ? ['taskset', ['-c', String(processor), command, ...args]] : [command, [...args]]

type Settings = Readonly<Record<string, string>>

/** A server in a process of its own. */
interface Contestant {
  readonly url: string
  readonly pid: number
  end(): void
}

interface Result {
  /** Requests per second. */
  readonly rate: number
  /** CPU microseconds of the server per request: unlike the rate, hardly changed by what else the machine does. */
  readonly cost: number
}

/** CPU seconds that a process has used; not known but on Linux, which counts in hundredths. */
async function cpu(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [user, system] = text.slice(text.lastIndexOf(')')).split(' ').slice(12, 14).map(Number)
  return ((user ?? Number.NaN) + (system ?? Number.NaN)) / 100
}

const main = join(import.meta.dirname, '..', 'dist', 'src', 'main.js')

/** Starts the command line and waits for its output to hold something. */
async function start(args: readonly string[], env: NodeJS.ProcessEnv, wanted: RegExp) {
  const command = pinned(0, process.execPath, [main, ...args])
  const child = spawn(...command, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += chunk
    if (wanted.test(output)) break
  }
  child.stdout.resume()
  return { child, output }
}

/** The whole service, which watches a demo server with all sources. */
async function startService(path: string, more: Settings): Promise<Contestant> {
  const demo = await start(['demo'], {}, /npm start/)
  const settings = Object.fromEntries([...demo.output.matchAll(/(MC_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]))
  const listens = /listens on (http:[^"]+)/
  const service = await start([], { ...settings, ...more, HOST: '127.0.0.1', PORT: '0' }, listens)
  const origin = listens.exec(service.output)?.[1]
  const url = `${origin}${path}`
  // The first poll, or to load the data, takes a moment.
  while (!(await fetch(url)).ok) await setTimeout(50)
  return {
    url,
    pid: service.child.pid ?? 0,
    end() {
      service.child.kill()
      demo.child.kill()
    },
  }
}

/** A bare node:http server that sends what another one replies. */
async function startBare(like: string): Promise<Contestant> {
  const command = pinned(0, process.execPath, [join(import.meta.dirname, 'bare-server.mjs')])
  const child = spawn(...command, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const reply = await fetch(like)
  const { connection, date, 'keep-alive': keepAlive, ...headers } = Object.fromEntries(reply.headers)
  child.send({ headers, body: await reply.text() })
  const [port] = await once(child, 'message')
  return { url: `http://127.0.0.1:${port}/`, pid: child.pid ?? 0, end: () => child.disconnect() }
}

/** Requests per second with wrk, which costs less than the servers do. */
async function wrk(url: string): Promise<number> {
  const command = pinned(1, 'wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, url])
  const { stdout } = await promisify(execFile)(...command)
  if (/Non-2xx/.test(stdout)) throw new Error(stdout)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}

/** The same with undici: here the client is the slower part, so that the ratio comes out nearer to 1. */
async function loop(url: string): Promise<number> {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections })
  const end = performance.now() + seconds * 1000
  let count = 0
  const client = async () => {
    while (performance.now() < end) {
      await (await pool.request({ path: pathname, method: 'GET' })).body.dump()
      count++
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  await pool.close()
  return count / seconds
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/**
 * Prints what GET of a path takes of the whole service, as a ratio of a bare node:http server that sends the same bytes.
 * @param goal the least ratio that is wanted
 * @param settings of the service, besides those for its demo server
 */
export async function againstBare(path: string, goal: number, settings: Settings = {}): Promise<void> {
  const load = hasTool('wrk') ? wrk : loop
  const measure = async ({ url, pid }: Contestant): Promise<Result> => {
    const before = await cpu(pid)
    const rate = await load(url)
    return { rate, cost: ((await cpu(pid)) - before) / ((rate * seconds) / 1e6) }
  }
  const service = await startService(path, settings)
  const bare = await startBare(service.url)
  try {
    // A service runs for days: what is measured is the compiled code, not how it gets there.
    for (let round = 0; round < warmUps; round++) for (const { url } of [service, bare]) await load(url)
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
