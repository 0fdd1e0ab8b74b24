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
  maxSentBody,
  type RconPacket,
  rconType,
} from '../../protocol/rcon.ts'
import type { RconCommand } from '../../protocol/rcon-commands.ts'
import { createReplyCollector, type RconReply, type ReplyEnd } from './reply-collector.ts'

/** Maximum number of unexpected packets between two requests. */
const maxIgnored = 100

export interface RconConnectionOptions {
  /** Connected or connecting. Closed by the connection. */
  readonly socket: Socket
  /** `host:port`, for messages. */
  readonly target: string
  readonly clock: Clock
  readonly replyEnd: ReplyEnd
  readonly phases?: PhaseTimer | undefined
}

interface Exchange {
  isAwaited(id: number): boolean
  /** Handles a packet with an awaited id. */
  receive(packet: RconPacket, at: number): void
  fail(error: SourceError): void
}

interface ExchangeSteps<T> extends Pick<Exchange, 'isAwaited' | 'receive'> {
  /** Returns the result if it was complete when the connection failed; undefined otherwise. */
  rescue?(error: SourceError): T | undefined
  /** Called when the exchange has ended. */
  close?(): void
}

/**
 * One RCON connection. Requests are sent one at a time, since the server reads one packet at a time. Any failure closes the
 * connection: a late reply would be mistaken for the reply to the next request.
 */
export class RconConnection {
  readonly #socket: Socket
  readonly #target: string
  readonly #clock: Clock
  readonly #replyEnd: ReplyEnd
  readonly #decoder = createRconDecoder()
  #exchange: Exchange | undefined
  #failure: SourceError | undefined
  #queue: Promise<unknown> = Promise.resolve()
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

  /** Number of replies to commands. */
  get replies(): number {
    return this.#replies
  }

  /** @throws SourceError `auth` if the server rejects the password */
  login(password: string, signal: AbortSignal): Promise<void> {
    return this.#enqueue(async () => {
      if (Buffer.byteLength(password) > maxSentBody) {
        this.#end(this.#error('auth', `the password is longer than ${maxSentBody} bytes`))
      }
      if (this.#failure) throw this.#failure
      const id = this.#nextId()
      // Some servers reply to a login with the id 0.
      const isAwaited = (answered: number) => answered === id || answered === 0
      await this.#send<void>(encodeLogin(id, password), signal, (done) => ({ isAwaited, receive: () => done() }))
    })
  }

  /**
   * @param signal aborted at the deadline of the command
   * @throws SourceError
   */
  request(command: RconCommand, signal: AbortSignal): Promise<RconReply> {
    return this.#enqueue(async () => {
      const id = this.#nextId()
      const sendEndMark = () => {
        const markId = this.#nextId()
        this.#socket.write(encodeEndMark(markId))
        return markId
      }
      const reply = await this.#send<RconReply>(encodeCommand(id, command), signal, (done) =>
        createReplyCollector({ id, clock: this.#clock, replyEnd: this.#replyEnd, sendEndMark, done }),
      )
      this.#replies++
      return reply
    })
  }

  close(): void {
    this.#end(this.#error('aborted', 'no longer watched'))
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => undefined)
    return result
  }

  #send<T>(bytes: Buffer, signal: AbortSignal, create: (done: (value: T) => void) => ExchangeSteps<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const abort = () => this.#end(toSourceError(signal.reason, this.#target))
      const finish = () => {
        signal.removeEventListener('abort', abort)
        this.#exchange = undefined
        steps.close?.()
      }
      const done = (value: T) => {
        finish()
        resolve(value)
      }
      if (signal.aborted) abort()
      if (this.#failure) return reject(this.#failure)
      signal.addEventListener('abort', abort, { once: true })
      const steps = create(done)
      this.#ignored = 0
      this.#exchange = {
        isAwaited: steps.isAwaited,
        receive: steps.receive,
        fail(error) {
          finish()
          const value = steps.rescue?.(error)
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
      this.#end(this.#error('auth', 'the server rejected the RCON password'))
      return
    }
    if (packet.type !== rconType.reply && packet.type !== rconType.loginReply) {
      throw new ProtocolError('malformed', `the reply has the type ${packet.type}`)
    }
    if (this.#exchange?.isAwaited(packet.id)) {
      this.#exchange.receive(packet, at)
      return
    }
    // Some servers reply to a login with two packets, and Cuberite sends an empty packet after each reply.
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

  /** Never -1, which signals a rejected login, nor 0. */
  #nextId(): number {
    this.#lastId = (this.#lastId % 0x7fffffff) + 1
    return this.#lastId
  }
}

const unexpectedId = ({ id }: RconPacket): ProtocolError =>
  new ProtocolError('malformed', `the reply has the id ${id}, which does not match a request`)
