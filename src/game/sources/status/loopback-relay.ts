import { once } from 'node:events'
import net from 'node:net'
import { type AbortSignalLike, abortable } from '../../../util/abortable.ts'
import { SourceError, toSourceError, withProgress } from '../../errors.ts'
import type { PhaseTimer } from '../../phases.ts'

// minecraft-server-util buffers everything until its own timeout (5 s of CPU and 100 MB for a reply that claims 2 GB), and cannot be
// aborted. Therefore it connects to a relay on the loopback address, which limits the bytes from the server and closes both
// connections at the deadline.

/** Timeout of the library in milliseconds, longer than any poll timeout. */
export const libraryTimeout = 65_000

export interface Guarded<T> {
  readonly value: T
  /** Milliseconds from the request to the first byte of the reply. */
  readonly latency: number
}

export interface GuardOptions {
  /** For messages. */
  readonly target: string
  readonly signal: AbortSignalLike
  /** Returns monotonic milliseconds. */
  readonly now: () => number
  /** Sent right after the request. */
  readonly suffix?: Buffer | undefined
  readonly phases?: PhaseTimer | undefined
}

/**
 * Calls `request` with a loopback port that is connected to `upstream`, and with a function that returns what was received so far.
 * @param upstream connected. Always destroyed.
 * @param maxBytes maximum length of the reply
 * @throws SourceError
 */
export async function guardTcp<T>(
  upstream: net.Socket,
  maxBytes: number,
  { target, signal, now, suffix, phases }: GuardOptions,
  request: (port: number, received: () => Buffer) => Promise<T>,
): Promise<Guarded<T>> {
  let failure: SourceError | undefined
  let client: net.Socket | undefined
  const chunks: Buffer[] = []
  let received = 0
  let sent = now()
  let latency = 0
  const relay = net.createServer()
  // A relay that is closed before it listens never says so, and the library may not notice the end of its connection.
  const ended = new AbortController()
  const end = (reason?: SourceError) => {
    failure ??= reason
    ended.abort()
    upstream.destroy()
    client?.destroy()
    relay.close()
  }
  // Servers of this kind close the connection after the reply, while the library may still be reading it.
  const upstreamEnded = () => {
    const closed = new SourceError('closed', `${target}: the connection was closed during the reply`)
    if (client === undefined) end(closed)
    failure ??= closed
    client?.end()
  }
  const abort = () => end(withProgress(toSourceError(signal.reason, target), 'connected'))
  upstream.on('error', (error) => end(toSourceError(error, target)))
  upstream.on('end', upstreamEnded)
  upstream.on('close', upstreamEnded)
  // Also after the connection to the server has failed: an error that nobody listens for would end the process.
  relay.on('error', (error) => end(toSourceError(error, target)))
  relay.once('connection', (socket) => {
    // The library opens one connection.
    relay.close()
    client = socket
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      sent = now()
      upstream.write(suffix === undefined ? chunk : Buffer.concat([chunk, suffix]))
    })
    upstream.on('data', (chunk: Buffer) => {
      if (received === 0) {
        latency = now() - sent
        phases?.end('first_byte')
      }
      received += chunk.length
      if (received > maxBytes) end(new SourceError('too_large', `${target}: the reply is longer than ${maxBytes} bytes`))
      else socket.write(chunk)
      chunks.push(chunk)
    })
  })
  signal.addEventListener('abort', abort, { once: true })
  try {
    signal.throwIfAborted()
    relay.listen(0, '127.0.0.1')
    await once(relay, 'listening', { signal: ended.signal })
    const { port } = relay.address() as net.AddressInfo
    const value = await abortable(
      request(port, () => Buffer.concat(chunks)),
      ended.signal,
    )
    return { value, latency }
  } catch (error) {
    throw failure ?? asFailure(error, signal, target)
  } finally {
    signal.removeEventListener('abort', abort)
    end()
  }
}

function asFailure(error: unknown, signal: AbortSignalLike, target: string): SourceError {
  if (signal.aborted) return toSourceError(signal.reason, target)
  if (error instanceof SourceError) return error
  return new SourceError('malformed', `${target}: ${error instanceof Error ? error.message : 'the reply cannot be parsed'}`)
}
