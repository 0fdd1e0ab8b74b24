import type { ServerResponse } from 'node:http'
import type { Backlog } from './backlog.ts'
import type { LiveEvent } from './event.ts'
import type { Turns } from './turns.ts'

/** Unsent bytes of earlier writes after which a client is dropped: one event may be larger, such as the names of 5,000 players. */
const maxUnsent = 256 * 1024
/** Unsent bytes after which the backlog waits until the client has read some of them. */
const maxBurst = 64 * 1024
/** Characters of the backlog that are encoded and written at once: thousands of small writes to each client take seconds. */
const pieceLength = 32 * 1024
const heartbeat = Buffer.from(':\n\n')

/** The part of `ServerResponse` that is used to write events. */
export type EventSink = Pick<ServerResponse, 'write' | 'end' | 'destroy' | 'writableLength' | 'once' | 'socket'>

interface EventClientOptions {
  readonly sink: EventSink
  readonly backlog: Backlog
  /** Names of the servers whose events are sent; default: all. */
  readonly servers?: ReadonlySet<string>
  readonly turns: Turns
  /** The collected events, which `send` has not been called with yet. */
  readonly pending: () => readonly LiveEvent[]
  /** Called once, when the client disconnects or is dropped. */
  onLeave(reason: 'closed' | 'dropped'): void
}

/** A client that receives events: first its backlog, as fast as it reads, then every new event. */
export function createEventClient({ sink, servers, turns, pending, onLeave, ...options }: EventClientOptions) {
  let isConnected = true
  /** Undefined once it has been sent. */
  let backlog: Backlog | undefined = options.backlog
  /** Number of pending events that the client has been sent or needs no more, because its backlog has them. */
  let skipped = pending().length
  /** Number of bytes that had been passed to the operating system at the last heartbeat. */
  let passedAtBeat = -1

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
    if (sink.writableLength > maxUnsent) drop()
    else sink.write(bytes)
  }

  const accepts = (event: LiveEvent): boolean =>
    (servers === undefined || servers.has(event.server)) && (backlog === undefined || backlog.isAhead(event))

  /** The events that the client must be sent. */
  const encodeAccepted = (events: readonly LiveEvent[]): readonly Buffer[] =>
    events.filter(accepts).map((event) => (backlog === undefined ? event.bytes : event.earlyBytes))

  /** Writes the next part of the backlog after the pending events, which are older. */
  function sendPiece(): boolean {
    if (!isConnected || backlog === undefined) return false
    if (sink.writableLength > maxBurst) {
      sink.once('drain', () => turns.resume(sendPiece))
      return false
    }
    const events = pending()
    const early = encodeAccepted(events.slice(skipped))
    skipped = events.length
    let piece = ''
    while (piece.length < pieceLength) {
      const { value, done } = backlog.messages.next()
      if (done) {
        backlog = undefined
        break
      }
      piece += value
    }
    const bytes = Buffer.from(piece)
    if (early.length > 0) write(Buffer.concat([...early, bytes]))
    else if (bytes.length > 0) write(bytes)
    return backlog !== undefined && isConnected
  }

  return {
    /** Starts to send the backlog. */
    start(): void {
      sink.once('close', onClose)
      sink.once('error', onClose)
      turns.add(sendPiece)
    },
    send(events: readonly LiveEvent[], joined: () => Buffer): void {
      const from = skipped
      skipped = 0
      if (from === 0 && servers === undefined && backlog === undefined) {
        write(joined())
        return
      }
      const own = encodeAccepted(events.slice(from))
      if (own.length > 0) write(Buffer.concat(own))
    },
    /** Sends a comment. Drops the client if it has read nothing since the last one. */
    beat(): void {
      // `bytesWritten` includes what is still in the buffer.
      const passed = (sink.socket?.bytesWritten ?? 0) - sink.writableLength
      if (sink.writableLength > 0 && passed === passedAtBeat) drop()
      else write(heartbeat)
      passedAtBeat = passed
    },
    end(): void {
      leave('closed')
      sink.end()
    },
  }
}

export type EventClient = ReturnType<typeof createEventClient>
