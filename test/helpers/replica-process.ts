import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from './test-end.ts'

const root = join(import.meta.dirname, '..', '..')

export interface ServiceProcess {
  readonly name: string
  readonly child: ChildProcess
  readonly url: string
  output(): string
  readonly exit: Promise<number | null>
  get(path: string): Promise<Response>
  json<T>(path: string): Promise<T>
  /** The value of a metric without labels; undefined if it is absent. */
  metric(name: string): Promise<number | undefined>
}

/**
 * The built service as a separate process, listening on a free port, until the test ends. @param config of a file; absent: no
 * file
 */
export async function startService(
  name: string,
  config: string | undefined,
  env: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  const file = join(folder, 'tickwarden.yaml')
  if (config !== undefined) writeFileSync(file, config)
  const flags = config === undefined ? [] : ['--config', file]
  const child = spawn(process.execPath, [join(root, 'dist', 'src', 'main.js'), ...flags], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', TMPDIR: folder, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await exit
  })
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        output += chunk
        const found = /listens on (http:\/\/[\w.:[\]]+)/.exec(output)?.[1]
        if (found !== undefined) resolve(found)
      })
    }
    child.once('close', () => reject(new Error(`${name} has ended:\n${output}`)))
  })
  const get = (path: string) => fetch(url + path)
  return {
    name,
    child,
    url,
    output: () => output,
    exit,
    get,
    json: async <T>(path: string) => (await (await get(path)).json()) as T,
    async metric(metric) {
      const text = await (await get('/metrics')).text()
      const value = new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1]
      return value === undefined ? undefined : Number(value)
    },
  }
}

/**
 * Pauses for five times as long as what began then has taken: on a busy machine it must not take the CPU that the replicas need.
 * @param startedAt monotonic milliseconds @param minMs at least so many milliseconds
 */
export const rest = (startedAt: number, minMs: number): Promise<void> =>
  // wait: between two requests.
  new Promise((resolve) => setTimeout(resolve, Math.max(minMs, 5 * (performance.now() - startedAt))))

/** Whether these replicas and no others share so many servers, each polled by one. Pauses if they do not. */
export async function shareServers(replicas: readonly ServiceProcess[], count: number): Promise<boolean> {
  const startedAt = performance.now()
  const read = async ({ get }: ServiceProcess) => {
    const text = await (await get('/metrics')).text()
    return ['members', 'servers'].map((name) => Number(new RegExp(`^tickwarden_replica_${name} (\\S+)$`, 'm').exec(text)?.[1]))
  }
  const all = await Promise.all(replicas.map(read))
  const areMembers = all.every(([members]) => members === replicas.length)
  if (areMembers && all.reduce((sum, [, servers = 0]) => sum + servers, 0) === count) return true
  await rest(startedAt, 50)
  return false
}
