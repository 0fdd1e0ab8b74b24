import net from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { startDemoServer } from '../../src/game/demo/server.ts'
import { createFleet } from '../../src/game/fleet.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { type Log, silentLog } from '../../src/log.ts'

/** What a line does to the bytes that come from the server. */
type Fault = 'none' | 'silent' | 'reset' | 'cut after 50 bytes' | 'slices of 8 bytes' | '1 KB a second' | 'latency of 2 s'

interface Line {
  readonly port: number
  fault: Fault
}

/** A TCP line to a port of this machine whose fault can be changed, as toxiproxy has them. It applies to new connections. */
async function createLine(port: number): Promise<Line> {
  const sockets = new Set<net.Socket>()
  const timers = new Set<NodeJS.Timeout>()
  const later = (ms: number, work: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, ms)
    timers.add(timer)
  }
  const server = net.createServer((client) => {
    const { fault } = line
    const upstream = net.connect({ host: '127.0.0.1', port })
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay(true).on('error', () => {}))
      socket.on('close', () => sockets.delete(socket))
    }
    if (fault === 'reset') return void client.resetAndDestroy()
    client.pipe(upstream)
    let passed = 0
    let sendAt = 0
    const pass = (bytes: Buffer, spacing: number) => {
      sendAt = Math.max(sendAt, performance.now()) + spacing
      later(sendAt - performance.now(), () => client.destroyed || client.write(bytes))
    }
    const slice = (chunk: Buffer, size: number, spacing: number) => {
      for (let at = 0; at < chunk.length; at += size) pass(chunk.subarray(at, at + size), spacing)
    }
    upstream.on('close', () => fault === 'none' && client.destroy())
    client.on('close', () => upstream.destroy())
    upstream.on('data', (chunk: Buffer) => {
      if (fault === 'none') client.write(chunk)
      else if (fault === 'slices of 8 bytes') slice(chunk, 8, 1)
      else if (fault === '1 KB a second') slice(chunk, 100, 100)
      else if (fault === 'latency of 2 s') later(2_000, () => client.destroyed || client.write(chunk))
      else if (fault === 'cut after 50 bytes') {
        client.write(chunk.subarray(0, Math.max(0, 50 - passed)))
        passed += chunk.length
        if (passed >= 50) client.end()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const timer of timers) clearTimeout(timer)
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const line: Line = { port: (server.address() as net.AddressInfo).port, fault: 'none' }
  return line
}

/** Watches the status of a demo server over a line, polling every 300 ms. */
async function watchOver(timeout: number) {
  // Without players the reply is the same in every run; its icon makes it longer than 1 KB.
  const demo = await startDemoServer({ players: 0, scenario: 'steady' })
  onTestFinished(demo.close)
  const line = await createLine(demo.address.port)
  const lines: string[] = []
  const log: Log = {
    ...silentLog,
    info: (_: unknown, text?: string) => void lines.push(text ?? ''),
    warn: (_: unknown, text?: string) => void lines.push(text ?? ''),
  }
  const poll = { interval: 300, timeout, staleAfter: 30_000 }
  const address = { ...demo.address, port: line.port }
  const servers = [{ name: 'a', sources: { status: { address } } }]
  const fleet = createFleet({ servers, poll, clock: systemClock, log, createSources })
  onTestFinished(() => fleet.close())
  const watcher = fleet.watchers[0]!
  return { line, lines, watcher, up: () => watcher.snapshot().up }
}

describe('over a line with', () => {
  it.each<[Fault, string]>([
    ['silent', 'timeout'],
    ['reset', 'closed'],
    ['cut after 50 bytes', 'closed'],
    ['1 KB a second', 'timeout'],
    ['latency of 2 s', 'timeout'],
  ])(
    '%s a server is down (%s), with one line of log each way, and back within two polls',
    { timeout: 60_000 },
    async (fault, code) => {
      // Long enough that a busy machine adds no timeout of its own.
      const { line, lines, watcher, up } = await watchOver(code === 'timeout' ? 400 : 10_000)
      watcher.start()
      await expect.poll(up, { timeout: 10_000 }).toBe(true)
      line.fault = fault
      await expect.poll(up, { timeout: 10_000 }).toBe(false)
      const failed = () =>
        Object.entries(watcher.snapshot().polls).reduce((sum, [outcome, n]) => sum + (outcome === 'ok' ? 0 : n), 0)
      await expect.poll(failed, { timeout: 20_000 }).toBeGreaterThanOrEqual(2)
      expect(Object.keys(watcher.snapshot().polls).filter((outcome) => outcome !== 'ok')).toEqual([code])
      expect(lines).toEqual([expect.stringContaining(`(${code})`)])
      line.fault = 'none'
      const before = failed()
      await expect.poll(up, { timeout: 20_000 }).toBe(true)
      // A poll that was running may still fail: the next one reaches the server.
      expect(failed() - before).toBeLessThanOrEqual(1)
      expect(lines).toEqual([expect.any(String), expect.stringContaining('reachable again')])
    },
  )

  it.each<[Fault, number]>([
    ['slices of 8 bytes', 10_000],
    ['latency of 2 s', 8_000],
    ['1 KB a second', 30_000],
  ])('%s a server is up where the timeout allows it', { timeout: 60_000 }, async (fault, timeout) => {
    const { line, lines, watcher } = await watchOver(timeout)
    line.fault = fault
    const snapshot = await watcher.poll()
    expect(snapshot).toMatchObject({ up: true, fields: { playersOnline: { value: 0 } } })
    expect(lines).toEqual([])
  })
})
