import type { Clock } from '../../../clock.ts'
import type { SourceError } from '../../errors.ts'
import { ProtocolError } from '../../protocol/error.ts'
import { fullPiece, type RconPacket } from '../../protocol/rcon.ts'

/** Maximum UTF-16 units of a reply, all pieces joined: more than 10,000 players with their UUIDs. */
const maxReply = 1_048_576
/** Pieces after the first may be short if another RCON client interferes, so their number is limited too. */
const maxPieces = 512
/** Milliseconds without a packet after which a reply is complete, for a server that does not answer the end mark. */
const silenceMs = 250

/** How the end of a long reply is detected. Learned once per server, and kept across connections. */
export interface ReplyEnd {
  /** The server does not answer the end mark, or closes the connection when it receives it. */
  bySilence: boolean
}

export interface RconReply {
  readonly text: string
  /** Monotonic milliseconds at which the first piece arrived. */
  readonly at: number
}

/** Joins the pieces of one reply. */
export interface ReplyCollector {
  isAwaited(id: number): boolean
  /** @throws ProtocolError `too_large` */
  receive(packet: RconPacket, at: number): void
  /** Returns the reply if it was complete when the connection failed; undefined otherwise. */
  rescue(error: SourceError): RconReply | undefined
  close(): void
}

export interface ReplyCollectorOptions {
  /** The id of the command. */
  readonly id: number
  readonly clock: Clock
  readonly replyEnd: ReplyEnd
  /** Sends a packet whose reply follows the last piece. Returns its id. */
  readonly sendEndMark: () => number
  readonly done: (reply: RconReply) => void
}

export function createReplyCollector({ id, clock, replyEnd, sendEndMark, done }: ReplyCollectorOptions): ReplyCollector {
  const pieces: string[] = []
  let markId: number | undefined
  let size = 0
  let first = 0
  let last = 0
  let cancelSilence = () => {}
  const reply = (): RconReply => ({ text: pieces.join(''), at: first })

  return {
    isAwaited: (answered) => answered === id || answered === markId,
    receive(packet, at) {
      if (packet.id === markId) return done(reply())
      if (pieces.length === 0) first = at
      last = at
      pieces.push(packet.body)
      size += packet.body.length
      if (size > maxReply || pieces.length > maxPieces) throw new ProtocolError('too_large', 'the reply is too long')
      if (markId !== undefined) return
      // Only a full piece can be followed by others. Servers that do not split replies send longer ones in one packet.
      if (packet.body.length !== fullPiece) return done(reply())
      if (replyEnd.bySilence) {
        cancelSilence()
        cancelSilence = clock.after(silenceMs, () => done(reply()))
        return
      }
      markId = sendEndMark()
    },
    rescue({ code }) {
      // Complete if only the reply to the end mark is missing. Empty packets, which Cuberite sends, are ignored.
      if (markId === undefined || !pieces.every(({ length }) => length === fullPiece || length === 0)) return undefined
      const isSilent = code === 'timeout' && clock.now() - last >= silenceMs
      if (code !== 'closed' && !isSilent) return undefined
      replyEnd.bySilence = true
      return reply()
    },
    close: () => cancelSilence(),
  }
}
