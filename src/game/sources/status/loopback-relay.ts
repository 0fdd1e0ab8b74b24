import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { abortable } from '../../../abortable.ts'
import { SourceError, toSourceError } from '../../errors.ts'

// minecraft-server-util buffers whatever a peer sends until its own timeout (2 GB claimed: 5 s of CPU and 100 MB), cannot be
// aborted and knows no IPv6 over UDP. So it never meets a game server: it asks a relay on loopback, which asks the server,
// counts the bytes, and ends both sides at the deadline.

/** The library's own timeout, which the guard always comes before. Milliseconds. */
export const libraryTimeout = 65_000

export interface Guarded<T> {
  readonly value: T
  /** The address that answered. */
  readonly address: string | undefined
  /** Milliseconds from the request to the first byte of the answer. */
  readonly latency: number
}

export interface GuardOptions {
  /** For messages. */
  readonly target: string
  readonly signal: AbortSignal
  /** Milliseconds, monotonic. */
  readonly now: () => number
}

/**
 * Runs `ask` against a loopback port behind which `upstream` answers.
 * @param upstream a connection under way; destroyed on every path
 * @param limit most bytes of an answer
 * @throws SourceError
 */
export async function guardTcp<T>(
  upstream: net.Socket,
  limit: number,
  { target, signal, now }: GuardOptions,
  ask: (port: number) => Promise<T>,
): Promise<Guarded<T>> {
  let failure: SourceError | undefined
  let client: net.Socket | undefined
  let address: string | undefined
  let received = 0
  let sent = now()
  let latency = 0
  const relay = net.createServer()
  const end = (reason?: SourceError) => {
    failure ??= reason
    upstream.destroy()
    client?.destroy()
    relay.close()
  }
  const abort = () => end(toSourceError(signal.reason, target))
  upstream.on('error', (error) => end(toSourceError(error, target)))
  upstream.on('connect', () => {
    address = upstream.remoteAddress
  })
  relay.maxConnections = 1
  relay.on('connection', (socket) => {
    client = socket
    socket.on('error', () => {})
    if (failure !== undefined) socket.destroy()
    socket.on('data', (chunk) => {
      sent = now()
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (received === 0) latency = now() - sent
      received += chunk.length
      if (received > limit) end(new SourceError('too_large', `${target}: the answer is longer than ${limit} bytes`))
      else socket.write(chunk)
    })
    // Legacy servers hang up after their answer: the library may still be reading it.
    upstream.on('end', () => {
      failure ??= new SourceError('closed', `${target}: the connection was closed within the answer`)
      socket.end()
    })
  })
  signal.addEventListener('abort', abort, { once: true })
  try {
    signal.throwIfAborted()
    relay.listen(0, '127.0.0.1')
    await once(relay, 'listening', { signal })
    if (failure !== undefined) throw failure
    const value = await abortable(ask((relay.address() as net.AddressInfo).port), signal)
    return { value, address, latency }
  } catch (error) {
    throw failure ?? asFailure(error, signal, target)
  } finally {
    signal.removeEventListener('abort', abort)
    end()
  }
}

/**
 * The same for one datagram each way.
 * @param accept says whether an answer is one that the library can read
 * @throws SourceError
 */
export async function guardUdp<T>(
  server: { readonly address: string; readonly family: number; readonly port: number },
  accept: (datagram: Buffer) => boolean,
  { target, signal, now }: GuardOptions,
  ask: (port: number) => Promise<T>,
): Promise<Guarded<T>> {
  let failure: SourceError | undefined
  let sent = now()
  let latency = 0
  let client: dgram.RemoteInfo | undefined
  const relay = dgram.createSocket('udp4')
  const upstream = dgram.createSocket(server.family === 6 ? 'udp6' : 'udp4')
  /** The library ends its call when an answer is none: the one way to end it early. */
  const dismiss = () => {
    if (client === undefined) relay.once('message', (_, from) => relay.send(Buffer.alloc(1), from.port, from.address))
    else relay.send(Buffer.alloc(1), client.port, client.address)
  }
  const fail = (reason: SourceError) => {
    if (failure !== undefined) return
    failure = reason
    dismiss()
  }
  const abort = () => fail(toSourceError(signal.reason, target))
  relay.on('error', (error) => fail(toSourceError(error, target)))
  upstream.on('error', (error) => fail(toSourceError(error, target)))
  relay.on('message', (message, from) => {
    if (client !== undefined || failure !== undefined) return
    client = from
    sent = now()
    upstream.send(message)
  })
  // Connected, so that datagrams of others are not received and a refusal is told.
  upstream.once('message', (datagram) => {
    latency = now() - sent
    if (client === undefined || failure !== undefined) return
    if (accept(datagram)) relay.send(datagram, client.port, client.address)
    else fail(new SourceError('malformed', `${target}: the answer is not one of this protocol`))
  })
  signal.addEventListener('abort', abort, { once: true })
  try {
    signal.throwIfAborted()
    upstream.connect(server.port, server.address)
    relay.bind(0, '127.0.0.1')
    await Promise.all([once(upstream, 'connect', { signal }), once(relay, 'listening', { signal })])
    if (failure !== undefined) throw failure
    // Not raced against the signal: the relay has to live until the library was told to end.
    const value = await ask(relay.address().port)
    if (failure !== undefined) throw failure
    return { value, address: server.address, latency }
  } catch (error) {
    throw failure ?? asFailure(error, signal, target)
  } finally {
    signal.removeEventListener('abort', abort)
    upstream.close()
    relay.close()
  }
}

function asFailure(error: unknown, signal: AbortSignal, target: string): SourceError {
  if (signal.aborted) return toSourceError(signal.reason, target)
  if (error instanceof SourceError) return error
  return new SourceError('malformed', `${target}: ${error instanceof Error ? error.message : 'the answer cannot be read'}`)
}
