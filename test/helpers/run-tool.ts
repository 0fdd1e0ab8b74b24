import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import type { DemoProtocol } from '../../src/demo/demo-server.ts'
import { until } from './until.ts'

/** Whether a port is free on every address, for TCP and for UDP. */
async function isFree(port: number): Promise<boolean> {
  const sockets = [net.createServer().listen(port), dgram.createSocket('udp4').bind(port)]
  const outcomes = await Promise.allSettled(sockets.map((socket) => once(socket, 'listening')))
  await Promise.all(sockets.map((socket) => [once(socket, 'close'), socket.close()][0]))
  return outcomes.every(({ status }) => status === 'fulfilled')
}

/** Of so many ports, the first one is kept open by the process that gives the others. */
const blockSize = 32

/**
 * Ports that no other process gives, of this test run or of another one beside it: a port that was given may not be in use yet, or for a
 * while.
 */
async function* givePorts(): AsyncGenerator<number, never> {
  for (;;) {
    const first = blockSize * randomInt(10_112 / blockSize, 32_768 / blockSize)
    const claim = net.createServer().unref()
    if (await once(claim.listen(first), 'listening').catch(() => undefined))
      for (let port = first + 1; port < first + blockSize; port++) if (await isFree(port)) yield port
  }
}
const ports = givePorts()

/**
 * A port that is not in use, and was not given before, for a program that cannot listen on port 0, and for a server that is closed or
 * restarted by its test. The system never assigns it by itself, because those ports begin at 32,768 or above: it stays closed until
 * someone asks for it. Above 10,080, the last one that fetch() refuses.
 */
export const freePort = async (): Promise<number> => (await ports.next()).value

/** Ports of a demo server that is stopped, or whose protocols are interrupted. */
export async function freeDemoPorts(): Promise<Record<DemoProtocol, number>> {
  return { status: await freePort(), rcon: await freePort(), query: await freePort(), management: await freePort() }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/** Runs a program of one process that listens on a port until it is disposed of; resolves once it accepts connections. */
export async function runTool(program: string, args: readonly string[], port: number): Promise<AsyncDisposable> {
  // Needs vitest, which the benches that use `freePort` do not have.
  const { needTool } = await import('./require-tool.ts')
  needTool(program)
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
