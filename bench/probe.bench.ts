import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { Pool } from 'undici'
import type { DemoServer } from '../src/demo/demo-server.ts'
import { freePort } from '../test/helpers/run-tool.ts'
import type { ProberReply, ProberRequest } from './probe/prober.ts'
import { startScript } from './processes.ts'
import { record } from './results.ts'

/** Timeouts for Python to install and to start, in milliseconds. */
const setupTimeoutMs = 120_000

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** A prober with an HTTP interface. */
interface Contestant {
  /** CPU time of its process so far, microseconds. */
  cpu(): Promise<number>
  probe(): Promise<string>
  close(): Promise<void>
}

async function call(prober: ChildProcess, request: ProberRequest): Promise<ProberReply> {
  const reply = once(prober, 'message', { signal: AbortSignal.timeout(setupTimeoutMs) })
  prober.send(request)
  return (await reply)[0] as ProberReply
}

/** Over one keep-alive connection, as Prometheus does. */
function createClient(port: number, path: string) {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 })
  const headers = {
    'x-prometheus-scrape-timeout-seconds': '5',
    accept: 'text/plain;version=0.0.4',
    'accept-encoding': 'gzip',
  }
  return {
    async probe(): Promise<string> {
      const { statusCode, headers: received, body } = await pool.request({ method: 'GET', path, headers })
      const bytes = Buffer.from(await body.arrayBuffer())
      const text = String(received['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes)
      if (statusCode !== 200) throw new Error(`${path}: HTTP ${statusCode}: ${text}`)
      return text
    },
    close: () => pool.destroy(),
  }
}

/** blackcraft_exporter, a prober from PyPI, in a virtual environment in `folder`. @throws if it cannot be installed or started */
async function startPython(folder: string, target: string): Promise<Contestant> {
  const run = (file: string, args: readonly string[]) => promisify(execFile)(file, [...args], { timeout: setupTimeoutMs })
  await run('python3', ['-m', 'venv', folder])
  // It imports a module that newer versions of websockets do not have.
  const packages = ['blackcraft_exporter==0.1.7', 'websockets<16']
  await run(join(folder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages])
  const port = await freePort()
  const child = spawn(
    join(folder, 'bin', 'python'),
    ['-m', 'blackcraft_exporter', '--host', '127.0.0.1', '--port', String(port)],
    {
      stdio: 'ignore',
    },
  )
  const client = createClient(port, `/probe?type=java&target=${target}`)
  const close = async () => {
    child.kill()
    await client.close()
  }
  const deadline = performance.now() + setupTimeoutMs
  for (;;) {
    try {
      await client.probe()
      break
    } catch (error) {
      if (performance.now() < deadline && child.exitCode === null) await setTimeout(100)
      else {
        await close()
        throw error
      }
    }
  }
  return {
    probe: client.probe,
    close,
    async cpu() {
      const text = await readFile(`/proc/${child.pid}/stat`, 'utf8')
      const [user = 0, system = 0] = text.slice(text.lastIndexOf(')')).split(' ').slice(12, 14).map(Number)
      return (user + system) * 10_000
    },
  }
}

async function cpuPerProbe({ cpu, probe }: Contestant, count: number): Promise<number> {
  const before = await cpu()
  for (let done = 0; done < count; done++) await probe()
  return ((await cpu()) - before) / count
}

/**
 * CPU time of one probe of a server's status over HTTP, compared to one poll of a watched server, and to blackcraft_exporter if
 * Python can install it.
 */
export async function run({ quick = false }: { readonly quick?: boolean } = {}): Promise<void> {
  const rounds = quick ? 1 : 9
  // V8 compiles for some thousand probes, in threads whose CPU time is counted too.
  const warmUpRounds = quick ? 1 : 5
  const count = quick ? 100 : 600
  const children: ChildProcess[] = []
  const contestants = new Map<string, Contestant>()
  const folder = await mkdtemp(join(tmpdir(), 'tickwarden-bench-'))
  try {
    const server = startScript('demo-server.mjs')
    children.push(server)
    const [{ address }] = (await once(server, 'message', { signal: AbortSignal.timeout(setupTimeoutMs) })) as [
      Pick<DemoServer, 'address'>,
    ]
    const prober = fork(fileOf('probe/prober.ts'))
    children.push(prober)
    const { port = 0 } = await call(prober, { watch: address })
    const target = `${address.host}:${address.port}`
    const cpu = async () => (await call(prober, { cpu: true })).cpu
    contestants.set('our probe', { ...createClient(port, `/probe?target=${target}`), cpu })
    if (quick) console.log('blackcraft_exporter is skipped in a quick run')
    else {
      try {
        contestants.set('blackcraft_exporter', await startPython(folder, target))
      } catch (error) {
        console.log(`blackcraft_exporter is skipped because it cannot be installed: ${String(error).split('\n', 1)[0]}`)
      }
    }
    for (const [name, { probe }] of contestants) {
      if (!/(_up|success) 1(\.0)?$/m.test(await probe())) throw new Error(`${name} did not reach the server`)
    }
    const times = new Map<string, number[]>()
    for (let round = 1 - warmUpRounds; round <= rounds; round++) {
      const add = (name: string, time: number) => {
        if (round > 0) times.set(name, [...(times.get(name) ?? []), time])
      }
      const before = await cpu()
      add('our watched poll', ((await call(prober, { polls: count })).cpu - before) / count)
      for (const [name, contestant] of contestants) add(name, await cpuPerProbe(contestant, count))
    }
    const base = times.get('our watched poll') ?? []
    for (const [name, all] of times) {
      const ratio = median(all.map((time, round) => time / (base[round] ?? Number.NaN)))
      record(`${name}`, median(all), 'µs CPU')
      record(`${name} / our watched poll`, ratio, 'ratio')
      console.log(`${name.padEnd(22)}${median(all).toFixed(0).padStart(6)} µs CPU (${ratio.toFixed(2)} of a watched poll)`)
    }
    const theirs = times.get('blackcraft_exporter')
    if (theirs) {
      const pairs = (times.get('our probe') ?? []).map((time, round) => time / (theirs[round] ?? Number.NaN))
      console.log(`our probe : blackcraft_exporter ${median(pairs).toFixed(2)}`)
    }
  } finally {
    for (const { close } of contestants.values()) await close()
    for (const child of children) child.disconnect()
    await rm(folder, { recursive: true })
  }
}
