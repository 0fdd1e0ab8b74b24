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
  readonly phases?: PhaseTimer | undefined
}

interface Exchange {
  /** Takes one packet that belongs to it. */
  receive(packet: RconPacket, at: number): void
  fail(error: SourceError): void
}

/**
 * One RCON connection. One request is sent at a time, since the server reads one packet at a time. Any failure closes the
 * connection: a reply that comes too late would be taken for the next one.
 */
export class RconConnection {
  readonly #socket: Socket
  readonly #target: string
  readonly #clock: Clock
  readonly #decoder = createRconDecoder()
  #exchange: Exchange | undefined
  #failure: SourceError | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #lastId = 0
  #loginId: number | undefined

  constructor({ socket, target, clock, phases }: RconConnectionOptions) {
    this.#socket = socket
    this.#target = target
    this.#clock = clock
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

  /** @throws SourceError `auth` where the server refuses the password */
  login(password: string, signal: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      if (Buffer.byteLength(password) > maxSentBody) {
        this.#end(this.#error('auth', `the password is longer than the ${maxSentBody} bytes that a server reads`))
      }
      if (this.#failure) throw this.#failure
      const id = this.#nextId()
      await this.#send<void>(encodeLogin(id, password), signal, (packet, _at, done) => {
        if (packet.id !== id) throw unexpectedId(packet)
        this.#loginId = id
        done()
      })
    })
  }

  /**
   * @param signal aborted at the deadline of the command
   * @throws SourceError
   */
  request(command: RconCommand, signal: AbortSignal): Promise<RconReply> {
    return this.#inTurn(() => {
      const id = this.#nextId()
      const bytes = encodeCommand(id, command)
      const pieces: string[] = []
      let markId: number | undefined
      let size = 0
      let first = 0
      return this.#send<RconReply>(bytes, signal, (packet, at, done) => {
        if (packet.id === markId) return done({ text: pieces.join(''), at: first })
        if (packet.id !== id) throw unexpectedId(packet)
        if (pieces.length === 0) first = at
        pieces.push(packet.body)
        size += packet.body.length
        if (size > maxReply || pieces.length > maxPieces) throw new ProtocolError('too_large', 'a reply does not end')
        if (markId !== undefined) return
        // Only a full piece can have others after it. Servers that do not cut their replies send what is longer at once.
        if (packet.body.length !== fullPiece) return done({ text: packet.body, at })
        markId = this.#nextId()
        this.#socket.write(encodeEndMark(markId))
      })
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

  #send<T>(
    bytes: Buffer,
    signal: AbortSignal,
    receive: (packet: RconPacket, at: number, done: (value: T) => void) => void,
  ): Promise<T> {
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
      this.#exchange = {
        receive: (packet, at) => receive(packet, at, done),
        fail(error) {
          finish()
          reject(error)
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
    // Servers modelled on another game's RCON answer a login with two packets.
    if (packet.id === this.#loginId) this.#loginId = undefined
    else if (this.#exchange) this.#exchange.receive(packet, at)
    else throw unexpectedId(packet)
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
