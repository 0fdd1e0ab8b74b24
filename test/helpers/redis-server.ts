import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { freePort } from './run-tool.ts'

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
}

/** A real redis-server without persistence, until the test ends. @param options of its command line, such as `--requirepass x` */
export async function startRedis(...options: readonly string[]): Promise<RedisServer> {
  const port = await freePort()
  let child: ChildProcess
  async function start(more: readonly string[]): Promise<void> {
    const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp']
    child = spawn('redis-server', [...own, ...more], { stdio: ['ignore', 'pipe', 'inherit'] })
    const started = child
    await new Promise<void>((resolve, reject) => {
      let output = ''
      started.stdout?.on('data', (chunk) => {
        output += chunk
        if (output.includes('Ready to accept connections')) resolve()
      })
      started.once('error', reject)
      started.once('exit', () => reject(new Error(`redis-server has ended:\n${output}`)))
    })
  }
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  await start(options)
  onTestFinished(kill)
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get process() {
      return child
    },
    kill,
    cli: (...command) => execFileSync('redis-cli', ['-p', String(port), ...command], { encoding: 'utf8' }).trim(),
    restart: (...more) => start(more.length > 0 ? more : options),
  }
}
