import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import { until } from './until.ts'

/** A local TCP port that is not in use. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/** Runs a program of one process that listens on a port until it is disposed of; resolves once it accepts connections. */
export async function runTool(program: string, args: readonly string[], port: number): Promise<AsyncDisposable> {
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  const exited = once(child, 'exit')
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${program} has ended: ${stderr}`)
    return accepts(port)
  })
  return {
    async [Symbol.asyncDispose]() {
      // Not SIGTERM: tinyproxy misses one that arrives just before it waits for connections, and keeps running.
      child.kill('SIGKILL')
      await exited
    },
  }
}
