import type { ServerResponse } from 'node:http'
import type { Backlog } from './backlog.ts'
import type { SendEvents } from './batch.ts'
import type { LiveEvent } from './event.ts'
import type { Turns } from './turns.ts'

/** Unsent bytes after which a client is dropped. */
const maxUnsent = 256 * 1024
/** Unsent bytes after which the backlog waits until the client has read some of them. */
const maxBurst = 64 * 1024
/** Bytes of the backlog that are written in one write: thousands of small writes to each client take seconds. */
const pieceBytes = 16 * 1024
const heartbeat = Buffer.from(':\n\n')

/** The part of `ServerResponse` that is used to write events. */
export type EventSink = Pick<ServerResponse, 'write' | 'end' | 'destroy' | 'writableLength' | 'once' | 'socket'>

/** A client that receives events: first its backlog, as fast as it reads, then every new event. */
export interface EventClient {
  /** Starts to send the backlog. */
  start(): void
  readonly send: SendEvents
  /** Sends a comment. Drops the client if it has read nothing since the last one. */
  beat(): void
  end(): void
}

export interface EventClientOptions {
  readonly sink: EventSink
  readonly backlog: Backlog
  /** Names of the servers whose events are sent; default: all. */
  readonly servers?: ReadonlySet<string>
  readonly turns: Turns
  /** Called once, when the client disconnects or is dropped. */
  onLeave(reason: 'closed' | 'dropped'): void
}

export function createEventClient({ sink, servers, turns, onLeave, ...options }: EventClientOptions): EventClient {
  let isConnected = true
  /** Undefined once it has been sent. */
  let backlog: Backlog | undefined = options.backlog
  let bytesAtBeat = -1

  function leave(reason: 'closed' | 'dropped'): void {
    if (!isConnected) return
    isConnected = false
    turns.delete(sendPiece)
    onLeave(reason)
  }
  const onClose = () => leave('closed')

  function drop(): void {
    leave('dropped')
    sink.destroy()
  }

  function write(bytes: Buffer): void {
    sink.write(bytes)
    if (sink.writableLength > maxUnsent) drop()
  }

  function sendPiece(): number {
    if (!isConnected || backlog === undefined) return 0
    if (sink.writableLength > maxBurst) {
      sink.once('drain', () => turns.addLater(sendPiece))
      return 0
    }
    const piece: Buffer[] = []
    let bytes = 0
    while (bytes < pieceBytes) {
      const { value, done } = backlog.messages.next()
      if (done) {
        backlog = undefined
        break
      }
      piece.push(value)
      bytes += value.length
    }
    if (bytes > 0) write(Buffer.concat(piece))
    if (backlog !== undefined && isConnected) turns.addLater(sendPiece)
    return bytes
  }

  const accepts = (event: LiveEvent): boolean =>
    (servers === undefined || servers.has(event.server)) && (backlog === undefined || backlog.isAhead(event))

  return {
    start() {
      sink.once('close', onClose)
      sink.once('error', onClose)
      turns.add(sendPiece)
    },
    send(events, joined) {
      if (servers === undefined && backlog === undefined) {
        write(joined())
        return
      }
      const own = events.filter(accepts)
      if (own.length > 0) write(Buffer.concat(own.map((event) => (backlog === undefined ? event.bytes : event.earlyBytes))))
    },
    beat() {
      const written = sink.socket?.bytesWritten ?? 0
      if (sink.writableLength > 0 && written === bytesAtBeat) return drop()
      bytesAtBeat = written
      write(heartbeat)
    },
    end() {
      leave('closed')
      sink.end()
    },
  }
}
