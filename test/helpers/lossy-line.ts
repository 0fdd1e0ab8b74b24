import net from 'node:net'
import type { TestContext } from 'vitest'

/** The fault of a line in the direction from the server; counts are per connection. */
export type Fault =
  | 'none'
  | 'reset'
  /** Delays all bytes until the fault is over. */
  | 'silent'
  | { readonly stallAfter: number }
  /** Closes the connection after this many bytes. */
  | { readonly cutAfter: number }
  | { readonly latencyMs: number }
  | { readonly sliceBytes: number; readonly everyMs: number }

export interface LossyLine {
  readonly port: number
  /** Applies immediately, also to open connections. */
  fault: Fault
  /** Connections so far. */
  readonly accepted: number
  /** Connections that the client has not closed. */
  readonly open: number
  /** Bytes that the line holds back at the moment. */
  readonly held: number
  /** Bytes from the server on the newest connection. */
  readonly received: number
}

interface Connection {
  readonly client: net.Socket
  readonly upstream: net.Socket
  received: number
  passed: number
  held: Buffer[]
}

/** A TCP proxy to a local port with a configurable fault, like toxiproxy. It ends with the test. */
export async function createLossyLine(port: number, { onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<LossyLine> {
  const connections = new Set<Connection>()
  const timers = new Set<NodeJS.Timeout>()
  let fault: Fault = 'none'
  let accepted = 0
  let newest: Connection | undefined

  function later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, ms)
    timers.add(timer)
  }

  function pass(connection: Connection, bytes: Buffer): void {
    connection.passed += bytes.length
    if (!connection.client.destroyed) connection.client.write(bytes)
  }

  function passUpTo(connection: Connection, bytes: Buffer, maxBytes: number): Buffer {
    const fits = Math.max(0, maxBytes - connection.passed)
    if (fits > 0) pass(connection, bytes.subarray(0, fits))
    return bytes.subarray(fits)
  }

  function deliver(connection: Connection, bytes: Buffer): void {
    if (fault === 'none' || fault === 'reset') pass(connection, bytes)
    else if (fault === 'silent') connection.held.push(bytes)
    else if ('stallAfter' in fault) {
      const rest = passUpTo(connection, bytes, fault.stallAfter)
      if (rest.length > 0) connection.held.push(rest)
    } else if ('cutAfter' in fault) {
      passUpTo(connection, bytes, fault.cutAfter)
      if (connection.passed >= fault.cutAfter) connection.client.end()
    } else if ('latencyMs' in fault) later(fault.latencyMs, () => pass(connection, bytes))
    else {
      const { sliceBytes, everyMs } = fault
      connection.held.push(bytes)
      later(everyMs, () => sendSlice(connection, sliceBytes, everyMs))
    }
  }

  /** Sends the next slice of the held-back bytes, then the rest. */
  function sendSlice(connection: Connection, size: number, everyMs: number): void {
    const [first, ...rest] = connection.held
    if (first === undefined) return
    pass(connection, first.subarray(0, size))
    connection.held = first.length > size ? [first.subarray(size), ...rest] : rest
    later(everyMs, () => sendSlice(connection, size, everyMs))
  }

  const server = net.createServer((client) => {
    accepted++
    const upstream = net.connect({ host: '127.0.0.1', port })
    const connection: Connection = { client, upstream, received: 0, passed: 0, held: [] }
    newest = connection
    connections.add(connection)
    for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', () => {})
    if (fault === 'reset') client.resetAndDestroy()
    client.pipe(upstream)
    client.on('close', () => {
      connections.delete(connection)
      upstream.destroy()
    })
    upstream.on('data', (bytes: Buffer) => {
      connection.received += bytes.length
      deliver(connection, bytes)
    })
    upstream.on('close', () => fault === 'none' && client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const timer of timers) clearTimeout(timer)
    for (const { client } of connections) client.destroy()
    server.close()
  })
  return {
    port: (server.address() as net.AddressInfo).port,
    get fault() {
      return fault
    },
    set fault(next) {
      fault = next
      for (const connection of connections) {
        if (next === 'reset') connection.client.resetAndDestroy()
        const held = Buffer.concat(connection.held)
        connection.held = []
        if (held.length > 0) deliver(connection, held)
      }
    },
    get accepted() {
      return accepted
    },
    get open() {
      return connections.size
    },
    get held() {
      return [...connections].reduce((sum, { held }) => sum + Buffer.concat(held).length, 0)
    },
    get received() {
      return newest?.received ?? 0
    },
  }
}
