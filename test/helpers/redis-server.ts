import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { needTool } from './require-tool.ts'
import { freePort } from './run-tool.ts'
import { onTestFinished } from './test-end.ts'

export interface RedisServer {
  readonly port: number
  /** Without a password. */
  readonly url: string
  readonly process: ChildProcess
  /** kill -9. */
  kill(): Promise<void>
  /** Starts again on the same port, without its data. */
  restart(...options: readonly string[]): Promise<void>
  /** Runs a command through redis-cli. @returns what it prints */
  cli(...command: readonly string[]): string
  /** The same without blocking this process, in which replicas and game servers may run. */
  ask(...command: readonly string[]): Promise<string>
}

/** Starts redis-server. @returns its process, once it has printed `ready` */
async function spawnRedis(args: readonly string[], ready: string): Promise<ChildProcess> {
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
      if (output.includes(ready)) resolve()
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`redis-server has ended:\n${output}`)))
  })
  return child
}

async function killRedis(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** A real redis-server without persistence, until the test ends. @param options of its command line, such as `--requirepass x` */
export async function startRedis(...options: readonly string[]): Promise<RedisServer> {
  for (const program of ['redis-server', 'redis-cli']) needTool(program)
  const port = await freePort()
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  // A new folder for each start: replication writes a dump into it, which the next start would load.
  const start = (more: readonly string[]) =>
    spawnRedis([...own, '--dir', mkdtempSync(join(tmpdir(), 'redis-')), ...more], 'Ready to accept connections')
  let child = await start(options)
  const kill = () => killRedis(child)
  onTestFinished(kill)
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get process() {
      return child
    },
    kill,
    cli: (...command) => execFileSync('redis-cli', ['-p', String(port), ...command], { encoding: 'utf8' }).trim(),
    async ask(...command) {
      const { stdout } = await promisify(execFile)('redis-cli', ['-p', String(port), ...command])
      return stdout.trim()
    },
    async restart(...more) {
      child = await start(more.length > 0 ? more : options)
    },
  }
}

/** A real Sentinel that monitors nothing, until the test ends. @returns its address */
export async function startSentinel(folder: string): Promise<string> {
  const port = await freePort()
  const file = join(folder, 'sentinel.conf')
  writeFileSync(file, `port ${port}\nbind 127.0.0.1\n`)
  const child = await spawnRedis([file, '--sentinel', '--dir', folder], 'Sentinel ID is')
  onTestFinished(() => killRedis(child))
  return `redis://127.0.0.1:${port}`
}
