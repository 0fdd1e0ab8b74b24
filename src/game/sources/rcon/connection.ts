import type { Socket } from 'node:net'
import type { Clock } from '../../../util/clock.ts'
import { SourceError, toSourceError } from '../../errors.ts'
import type { PhaseTimer } from '../../phases.ts'
import { ProtocolError } from '../../protocol/error.ts'
import type { RconCommand } from '../../protocol/rcon/commands.ts'
import {
  encodeCommand,
  encodeEndMark,
  encodeLogin,
  maxSentBody,
  RconDecoder,
  type RconPacket,
  rconType,
} from '../../protocol/rcon/packets.ts'
import { type RconReply, ReplyCollector, type ReplyCollectorOptions, type ReplyEnd } from './reply-collector.ts'

/** Maximum number of unexpected packets between two requests. */
const maxIgnored = 100

export interface RconConnectionOptions {
  /** Connected. Closed by the connection. */
  readonly socket: Socket
  /** `host:port`, for messages. */
  readonly target: string
  readonly clock: Clock
  readonly replyEnd: ReplyEnd
  readonly phases?: PhaseTimer | undefined
}

/** A request that waits for its reply. It calls `#done` when the reply is complete. */
interface Exchange {
  isAwaited(id: number): boolean
  /** Handles a packet with an awaited id. */
  receive(packet: RconPacket, at: number): void
  /** Returns the reply if it was complete when the connection failed; undefined otherwise. */
  rescue?(error: SourceError): RconReply | undefined
  /** Called when the exchange has ended. */
  close?(): void
}

interface Pending {
  readonly exchange: Exchange
  readonly resolve: (reply: RconReply) => void
  readonly reject: (error: SourceError) => void
}

/**
 * One RCON connection. The caller sends one request at a time, since the server reads one packet at a time. Any failure closes the
 * connection: a late reply would be mistaken for the reply to the next request.
 */
export class RconConnection {
  readonly #socket: Socket
  readonly #target: string
  readonly #clock: Clock
  readonly #collecting: ReplyCollectorOptions
  readonly #decoder = new RconDecoder()
  #pending: Pending | undefined
  #failure: SourceError | undefined
  #lastId = 0
  #ignored = 0
  #replies = 0

  constructor({ socket, target, clock, replyEnd, phases }: RconConnectionOptions) {
    this.#socket = socket
    this.#target = target
    this.#clock = clock
    this.#collecting = {
      clock,
      replyEnd,
      sendEndMark: () => this.#sendEndMark(),
      done: (reply) => this.#done(reply),
    }
    socket.setNoDelay(true)
    if (phases !== undefined) socket.once('data', () => phases.end('first_byte'))
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
  async login(password: string): Promise<void> {
    if (Buffer.byteLength(password) > maxSentBody) {
      this.#end(this.#error('auth', `the password is longer than ${maxSentBody} bytes`))
    }
    if (this.#failure) throw this.#failure
    const id = this.#nextId()
    // Some servers reply to a login with the id 0.
    const exchange: Exchange = {
      isAwaited: (answered) => answered === id || answered === 0,
      receive: (_packet, at) => this.#takePending()?.resolve({ text: '', at }),
    }
    await this.#send(encodeLogin(id, password), exchange)
  }

  /** @throws SourceError */
  request(command: RconCommand): Promise<RconReply> {
    const id = this.#nextId()
    return this.#send(encodeCommand(id, command), new ReplyCollector(id, this.#collecting))
  }

  /** @param error the error of the request in progress and of later ones */
  close(error = this.#error('aborted', 'no longer watched')): void {
    this.#end(error)
  }

  #send(bytes: Buffer, exchange: Exchange): Promise<RconReply> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#pending = { exchange, resolve, reject }
      this.#ignored = 0
      this.#socket.write(bytes)
    })
  }

  /** Ends the exchange in progress. */
  #takePending(): Pending | undefined {
    const pending = this.#pending
    this.#pending = undefined
    pending?.exchange.close?.()
    return pending
  }

  #done(reply: RconReply): void {
    this.#replies++
    this.#takePending()?.resolve(reply)
  }

  #sendEndMark(): number {
    const id = this.#nextId()
    this.#socket.write(encodeEndMark(id))
    return id
  }

  #take(chunk: Buffer): void {
    const at = this.#clock.now()
    try {
      this.#decoder.push(chunk)
      for (let packet = this.#decoder.next(); packet !== undefined && !this.#failure; packet = this.#decoder.next()) {
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
    const exchange = this.#pending?.exchange
    if (exchange?.isAwaited(packet.id)) {
      exchange.receive(packet, at)
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
    const reply = this.#pending?.exchange.rescue?.(error)
    if (reply === undefined) this.#takePending()?.reject(error)
    else this.#done(reply)
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
