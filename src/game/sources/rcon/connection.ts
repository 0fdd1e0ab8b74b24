import type { Socket } from 'node:net'
import type { Clock } from '../../../clock.ts'
import { SourceError, toSourceError } from '../../errors.ts'
import type { PhaseTimer } from '../../phases.ts'
import { ProtocolError } from '../../protocol/error.ts'
import {
  createRconDecoder,
  encodeCommand,
  encodeEndMark,
  encodeLogin,
  fullPiece,
  maxSentBody,
  type RconPacket,
  rconType,
} from '../../protocol/rcon.ts'
import type { RconCommand } from '../../protocol/rcon-commands.ts'

/** UTF-16 units of one reply, all pieces joined: more than 10,000 players with their UUIDs. */
const maxReply = 1_048_576
/** Pieces after the first may be short when another RCON client interferes, but not without end. */
const maxPieces = 512

/** A server that does not answer the end mark has sent all of a reply once nothing has come for so many milliseconds. */
const silenceMs = 250
/** Packets that answer nothing, between two requests. */
const maxIgnored = 100

/** How the end of a long reply is found. Learned once for a server, and kept over its connections. */
export interface ReplyEnd {
  /** The server does not answer the end mark, or closes the connection on it. */
  bySilence: boolean
}

export interface RconReply {
  readonly text: string
  /** Monotonic milliseconds at which its first piece arrived. */
  readonly at: number
}

export interface RconConnectionOptions {
  /** Connected or connecting. The RconConnection closes it. */
  readonly socket: Socket
  /** `host:port`, for messages. */
  readonly target: string
  readonly clock: Clock
  readonly replyEnd: ReplyEnd
  readonly phases?: PhaseTimer | undefined
}

interface Exchange {
  isAwaited(id: number): boolean
  /** Takes one packet that belongs to it. */
  receive(packet: RconPacket, at: number): void
  fail(error: SourceError): void
}

interface ExchangeSteps<T> extends Pick<Exchange, 'isAwaited' | 'receive'> {
  /** What was received by the time the connection ended, where it is all there is; undefined: it is not. */
  rescue?(error: SourceError): T | undefined
}

/**
 * One RCON connection. One request is sent at a time, since the server reads one packet at a time. Any failure closes the
 * connection: a reply that comes too late would be taken for the next one.
 */
export class RconConnection {
  readonly #socket: Socket
  readonly #target: string
  readonly #clock: Clock
  readonly #replyEnd: ReplyEnd
  readonly #decoder = createRconDecoder()
  #exchange: Exchange | undefined
  #failure: SourceError | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #lastId = 0
  #ignored = 0
  #replies = 0

  constructor({ socket, target, clock, replyEnd, phases }: RconConnectionOptions) {
    this.#socket = socket
    this.#target = target
    this.#clock = clock
    this.#replyEnd = replyEnd
    socket.setNoDelay(true)
    if (phases !== undefined) {
      socket.once('connect', () => phases.end('connect'))
      socket.once('data', () => phases.end('first_byte'))
    }
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', (error) => this.#end(toSourceError(error, target)))
    socket.on('close', () => this.#end(this.#error('closed', 'the server closed the connection')))
  }

  get open(): boolean {
    return this.#failure === undefined
  }

  /** Commands that were answered. */
  get replies(): number {
    return this.#replies
  }

  /** @throws SourceError `auth` where the server refuses the password */
  login(password: string, signal: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      if (Buffer.byteLength(password) > maxSentBody) {
        this.#end(this.#error('auth', `the password is longer than the ${maxSentBody} bytes that a server reads`))
      }
      if (this.#failure) throw this.#failure
      const id = this.#nextId()
      // Some servers answer a login with the id 0.
      const isAwaited = (answered: number) => answered === id || answered === 0
      await this.#send<void>(encodeLogin(id, password), signal, (done) => ({ isAwaited, receive: () => done() }))
    })
  }

  /**
   * @param signal aborted at the deadline of the command
   * @throws SourceError
   */
  request(command: RconCommand, signal: AbortSignal): Promise<RconReply> {
    return this.#inTurn(async () => {
      const id = this.#nextId()
      const pieces: string[] = []
      let markId: number | undefined
      let size = 0
      let first = 0
      let last = 0
      let cancelSilence = () => {}
      const reply = (): RconReply => ({ text: pieces.join(''), at: first })
      const request = this.#send<RconReply>(encodeCommand(id, command), signal, (done) => ({
        isAwaited: (answered) => answered === id || answered === markId,
        receive: (packet, at) => {
          if (packet.id === markId) return done(reply())
          if (pieces.length === 0) first = at
          last = at
          pieces.push(packet.body)
          size += packet.body.length
          if (size > maxReply || pieces.length > maxPieces) throw new ProtocolError('too_large', 'a reply does not end')
          if (markId !== undefined) return
          // Only a full piece can have others after it. Servers that do not cut their replies send what is longer at once.
          if (packet.body.length !== fullPiece) return done(reply())
          if (this.#replyEnd.bySilence) {
            cancelSilence()
            cancelSilence = this.#clock.after(silenceMs, () => done(reply()))
            return
          }
          markId = this.#nextId()
          this.#socket.write(encodeEndMark(markId))
        },
        // Everything has come but the answer to the end mark; Cuberite's empty packet counts for nothing.
        rescue: ({ code }) => {
          if (markId === undefined || !pieces.every(({ length }) => length === fullPiece || length === 0)) return undefined
          const isSilent = code === 'timeout' && this.#clock.now() - last >= silenceMs
          if (code !== 'closed' && !isSilent) return undefined
          this.#replyEnd.bySilence = true
          return reply()
        },
      }))
      try {
        const result = await request
        this.#replies++
        return result
      } finally {
        cancelSilence()
      }
    })
  }

  close(): void {
    this.#end(this.#error('aborted', 'no longer watched'))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }

  #send<T>(bytes: Buffer, signal: AbortSignal, create: (done: (value: T) => void) => ExchangeSteps<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const abort = () => this.#end(toSourceError(signal.reason, this.#target))
      const finish = () => {
        signal.removeEventListener('abort', abort)
        this.#exchange = undefined
      }
      const done = (value: T) => {
        finish()
        resolve(value)
      }
      if (signal.aborted) abort()
      if (this.#failure) return reject(this.#failure)
      signal.addEventListener('abort', abort, { once: true })
      const { isAwaited, receive, rescue } = create(done)
      this.#ignored = 0
      this.#exchange = {
        isAwaited,
        receive,
        fail(error) {
          finish()
          const value = rescue?.(error)
          if (value === undefined) reject(error)
          else resolve(value)
        },
      }
      this.#socket.write(bytes)
    })
  }

  #take(chunk: Buffer): void {
    const at = this.#clock.now()
    try {
      for (const packet of this.#decoder.push(chunk)) {
        if (this.#failure) return
        this.#route(packet, at)
      }
    } catch (error) {
      this.#end(toSourceError(error, this.#target))
    }
  }

  #route(packet: RconPacket, at: number): void {
    if (packet.id === -1) {
      this.#end(this.#error('auth', 'the server refuses the RCON password'))
      return
    }
    if (packet.type !== rconType.reply && packet.type !== rconType.loginReply) {
      throw new ProtocolError('malformed', `a reply is of type ${packet.type}`)
    }
    if (this.#exchange?.isAwaited(packet.id)) {
      this.#exchange.receive(packet, at)
      return
    }
    // Some servers answer a login with two packets, and Cuberite sends an empty one after each reply.
    const isDone = packet.id > 0 && packet.id <= this.#lastId
    if ((packet.body !== '' && !isDone) || ++this.#ignored > maxIgnored) throw unexpectedId(packet)
  }

  #end(error: SourceError): void {
    if (this.#failure) return
    this.#failure = error
    this.#socket.destroy()
    this.#exchange?.fail(error)
  }

  #error(code: SourceError['code'], message: string): SourceError {
    return new SourceError(code, `${this.#target}: ${message}`)
  }

  /** Never -1, which means a refused login, nor 0. */
  #nextId(): number {
    this.#lastId = (this.#lastId % 0x7fffffff) + 1
    return this.#lastId
  }
}

const unexpectedId = ({ id }: RconPacket): ProtocolError =>
  new ProtocolError('malformed', `a reply has the id ${id}, which no request has`)
