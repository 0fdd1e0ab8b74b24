import type { Clock } from '../../../util/clock.ts'
import type { SourceError } from '../../errors.ts'
import { ProtocolError } from '../../protocol/error.ts'
import { fullPiece, type RconPacket } from '../../protocol/rcon/packets.ts'

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

/** What the collectors of one connection share. */
export interface ReplyCollectorOptions {
  readonly clock: Clock
  readonly replyEnd: ReplyEnd
  /** Sends a packet whose reply follows the last piece. Returns its id. */
  readonly sendEndMark: () => number
  readonly done: (reply: RconReply) => void
}

/** Joins the pieces of one reply. */
export class ReplyCollector {
  readonly #id: number
  readonly #options: ReplyCollectorOptions
  /** Nearly all replies have one piece. */
  #text = ''
  #pieces = 0
  #areAllFull = true
  #markId: number | undefined
  #first = 0
  #last = 0
  #cancelSilence: (() => void) | undefined

  /** @param id the id of the command */
  constructor(id: number, options: ReplyCollectorOptions) {
    this.#id = id
    this.#options = options
  }

  isAwaited(id: number): boolean {
    return id === this.#id || id === this.#markId
  }

  /** @throws ProtocolError `too_large` */
  receive({ id, body }: RconPacket, at: number): void {
    if (id === this.#markId) {
      this.#done()
      return
    }
    if (this.#pieces === 0) this.#first = at
    this.#last = at
    this.#pieces++
    this.#text += body
    // Empty packets, which Cuberite sends, are ignored.
    if (body.length !== fullPiece && body !== '') this.#areAllFull = false
    if (this.#text.length > maxReply || this.#pieces > maxPieces) throw new ProtocolError('too_large', 'the reply is too long')
    if (this.#markId !== undefined) return
    // Only a full piece can be followed by others. Servers that do not split replies send longer ones in one packet.
    if (body.length !== fullPiece) {
      this.#done()
      return
    }
    const { clock, replyEnd, sendEndMark } = this.#options
    if (!replyEnd.bySilence) {
      this.#markId = sendEndMark()
      return
    }
    this.#cancelSilence?.()
    this.#cancelSilence = clock.after(silenceMs, () => this.#done())
  }

  /** Returns the reply if it was complete when the connection failed; undefined otherwise. */
  rescue({ code }: SourceError): RconReply | undefined {
    const { clock, replyEnd } = this.#options
    // Complete if only the reply to the end mark is missing.
    if (this.#markId === undefined || !this.#areAllFull) return undefined
    const isSilent = code === 'timeout' && clock.now() - this.#last >= silenceMs
    if (code !== 'closed' && !isSilent) return undefined
    replyEnd.bySilence = true
    return this.#reply()
  }

  close(): void {
    this.#cancelSilence?.()
  }

  #done(): void {
    this.#options.done(this.#reply())
  }

  #reply(): RconReply {
    return { text: this.#text, at: this.#first }
  }
}
