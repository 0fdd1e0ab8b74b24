import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endWithParent, nextMessage } from '../wait.ts'

const root = join(import.meta.dirname, '..', '..')

/** The host name that a replica sends to the servers, by which they know it. */
export const hostNameOf = (replica: string): string => `${replica}.test`

export interface Replica {
  readonly name: string
  readonly url: string
  /** Bytes of the heap after a garbage collection. */
  heap(): Promise<number>
  descriptors(): number
  /** @returns the exit code; null after SIGKILL */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

export interface ReplicaOptions {
  readonly folder: string
  /** Of this replica. */
  readonly targets: string
  readonly env: Readonly<Record<string, string>>
  readonly config: string
}

/** Starts the built service as one replica of several. */
export async function startReplica(name: string, { folder, targets, env, config }: ReplicaOptions): Promise<Replica> {
  const own = join(folder, name)
  mkdirSync(own)
  writeFileSync(join(own, 'tickwarden.yaml'), config)
  const preload = new URL('measure.mjs', import.meta.url).href
  const args = ['--v8-pool-size=1', '--expose-gc', '--import', preload, join(root, 'dist/src/main.js')]
  const child: ChildProcess = endWithParent(
    spawn(process.execPath, [...args, '--config', join(own, 'tickwarden.yaml')], {
      cwd: own,
      env: { PATH: process.env.PATH ?? '', PORT: '0', DISCOVERY_FILE_SD: targets, HISTORY_DIR: own, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    }),
  )
  const exit = once(child, 'exit')
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        output = (output + chunk).slice(-10_000)
        const found = /listens on (http:\/\/[\w.:[\]]+)/.exec(output)?.[1]
        if (found !== undefined) resolve(found)
      })
    }
    child.once('exit', () => reject(new Error(`the replica ${name} has ended:\n${output}`)))
  })
  return {
    name,
    url,
    async heap() {
      child.send('measure')
      return (await nextMessage<{ heap: number }>(child)).heap
    },
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    async end(signal) {
      child.kill(signal)
      const [code] = await exit
      return code
    },
  }
}
