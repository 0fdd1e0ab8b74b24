import { once } from 'node:events'
import net from 'node:net'
import { abortable } from '../../../abortable.ts'
import { SourceError, toSourceError, withProgress } from '../../errors.ts'
import type { PhaseTimer } from '../../phases.ts'

// minecraft-server-util buffers whatever a peer sends until its own timeout (2 GB claimed: 5 s of CPU and 100 MB), and cannot be
// aborted. So it never connects to a game server: it connects to a relay on loopback, which connects to the server, counts the
// bytes, and closes both sides at the deadline.

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
  readonly phases?: PhaseTimer | undefined
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
  { target, signal, now, phases }: GuardOptions,
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
  const abort = () => {
    const error = toSourceError(signal.reason, target)
    end(address === undefined ? error : withProgress(error, 'connected'))
  }
  upstream.on('error', (error) => end(toSourceError(error, target)))
  upstream.on('connect', () => {
    address = upstream.remoteAddress
    phases?.end('connect')
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
      if (received === 0) {
        latency = now() - sent
        phases?.end('first_byte')
      }
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

function asFailure(error: unknown, signal: AbortSignal, target: string): SourceError {
  if (signal.aborted) return toSourceError(signal.reason, target)
  if (error instanceof SourceError) return error
  return new SourceError('malformed', `${target}: ${error instanceof Error ? error.message : 'the answer cannot be read'}`)
}
