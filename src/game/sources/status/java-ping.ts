import type { LookupAddress } from 'node:dns'
import type { Socket } from 'node:net'
import type { AbortSignalLike } from '../../../util/abortable.ts'
import { formatHostPort, type HostPort } from '../../../util/address.ts'
import type { Clock } from '../../../util/clock.ts'
import { inOwnTurn } from '../../../util/own-turn.ts'
import { SourceError, toSourceError, withProgress } from '../../errors.ts'
import { addressOfServer, type Network } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import { type Frame, FrameReader } from '../../protocol/status/frames.ts'
import {
  decodePing,
  encodeHandshake,
  encodePing,
  isLegacyReply,
  maxStatusFrame,
  statusRequest,
} from '../../protocol/status/status.ts'
import { recogniseOther } from './recognise.ts'

const pingPayload = 0x7469636b77617264n
const ping = encodePing(pingPayload).toString('latin1')
/** Longer replies are decoded one at a time, bytes. At least what one chunk can hold, because a chunk is valid only during its event. */
const maxAtOnce = 65_536

export interface JavaPing<T> {
  /** The decoded reply. */
  readonly reply: T
  /** The remote address. */
  readonly address: string | undefined
  /** Milliseconds from ping to pong, or from request to reply if no pong arrived. */
  readonly latency: number
  /** False if no pong arrived in time; undefined if no ping was sent. */
  readonly hasPong: boolean | undefined
}

export interface JavaPingOptions<T> {
  readonly network: Network
  /** Those of the server. */
  readonly addresses: readonly LookupAddress[]
  /** Created by encodeHello(). */
  readonly hello: string
  /**
   * Decodes the reply. The body of the frame is a view that is not valid after the call.
   * @throws ProtocolError if it is not a status reply
   */
  readonly decoder: { read(reply: Frame): T }
  /** For messages. */
  readonly server: HostPort
  readonly clock: Clock
  readonly phases: PhaseTimer | undefined
  readonly signal: AbortSignalLike
  /** Whether to send a ping after the status. */
  readonly ping: boolean
}

/** The peer behaves like a server up to 1.6: it closed the connection without a reply, or sent a legacy kick packet. */
export class LegacyPeerError extends SourceError {}

/** The protocol number that clients send by convention if they only request the status. */
export const anyProtocol = -1

/**
 * Encodes the first bytes on the connection: the handshake with the given address and protocol, and the status request.
 * @returns the bytes as Latin-1 text, which takes less memory than a Buffer
 */
export function encodeHello(host: string, port: number, protocol: number = anyProtocol): string {
  return Buffer.concat([encodeHandshake({ protocol, host, port, next: 1 }), statusRequest]).toString('latin1')
}

/**
 * Handshake, status and ping over one connection (https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping).
 * @throws SourceError
 */
export async function pingJava<T>(options: JavaPingOptions<T>): Promise<JavaPing<T>> {
  const { network, addresses, server, signal, phases } = options
  const connecting = network.connect(addresses, server.port, signal, { usesChunksAtOnce: true })
  const socket = await connecting.catch((error: unknown) => {
    throw toSourceError(error, formatHostPort(server))
  })
  phases?.end('connect')
  return new Promise((resolve, reject) => new Exchange(socket, options, resolve, reject).start())
}

/** One connection. */
class Exchange<T> {
  readonly #socket: Socket
  readonly #options: JavaPingOptions<T>
  readonly #resolve: (ping: JavaPing<T>) => void
  readonly #reject: (error: SourceError) => void
  readonly #frames = new FrameReader(maxStatusFrame)
  readonly #onAbort = () => this.#abort()
  #hasReceived = false
  #hasEnded = false
  #address: string | undefined
  /** When the last request was sent, in monotonic milliseconds. */
  #sentAt = 0
  #status: { readonly reply: T; readonly took: number } | undefined
  #cancelPongTimer: (() => void) | undefined

  /** @param socket connected. Always destroyed. Its chunks are used only during their events. */
  constructor(
    socket: Socket,
    options: JavaPingOptions<T>,
    resolve: (ping: JavaPing<T>) => void,
    reject: (error: SourceError) => void,
  ) {
    this.#socket = socket
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
  }

  start(): void {
    const { network, addresses, clock, signal, hello } = this.#options
    const socket = this.#socket
    this.#address = addressOfServer(socket, addresses, network)
    signal.addEventListener('abort', this.#onAbort)
    const onEnd = () => this.#connectionEnded()
    socket.on('data', (chunk: Buffer) => this.#received(chunk))
    socket.on('error', (error: NodeJS.ErrnoException) => this.#connectionFailed(error))
    socket.on('end', onEnd)
    socket.on('close', onEnd)
    this.#sentAt = clock.now()
    socket.write(hello, 'latin1')
  }

  #received(chunk: Buffer): void {
    if (this.#hasEnded) return
    try {
      if (!this.#hasReceived) this.#firstReceived(chunk)
      this.#frames.push(chunk)
      this.#readFrames()
    } catch (error) {
      this.#readingFailed(error)
    }
  }

  #readFrames(): void {
    for (let frame = this.#frames.next(); frame !== undefined && !this.#hasEnded; frame = this.#frames.next()) {
      const took = this.#options.clock.now() - this.#sentAt
      if (this.#status === undefined && frame.body.length > maxAtOnce) {
        this.#readLater(frame, took)
        return
      }
      this.#receivedFrame(frame, took)
    }
  }

  /** The socket is paused, so that neither its end nor another frame comes before the reply is decoded. */
  #readLater(frame: Frame, took: number): void {
    const socket = this.#socket
    socket.pause()
    inOwnTurn(() => {
      if (this.#hasEnded) return
      try {
        this.#receivedFrame(frame, took)
        this.#readFrames()
      } catch (error) {
        this.#readingFailed(error)
      }
      socket.resume()
    })
  }

  #readingFailed(error: unknown): void {
    if (this.#status === undefined) this.#fail(error)
    else this.#succeed()
  }

  /** @throws SourceError if the first bytes are those of another protocol */
  #firstReceived(chunk: Buffer): void {
    if (isLegacyReply(chunk)) {
      throw new LegacyPeerError('malformed', `${this.#target()}: the reply is a legacy one, of a server up to 1.6`)
    }
    const other = recogniseOther(chunk)
    if (other !== undefined) {
      throw new SourceError('malformed', `${this.#target()}: this looks like ${other}; set the port that players use`)
    }
    this.#options.phases?.end('first_byte')
    this.#hasReceived = true
  }

  #receivedFrame(frame: Frame, took: number): void {
    const { clock, decoder, ping: sendPing } = this.#options
    if (this.#status !== undefined) {
      this.#succeed(decodePing(frame) === pingPayload ? took : undefined)
      return
    }
    this.#status = { reply: decoder.read(frame), took }
    if (!sendPing) {
      this.#succeed()
      return
    }
    this.#cancelPongTimer = clock.after(Math.min(1_000, Math.max(100, 4 * took)), () => this.#succeed())
    this.#sentAt = clock.now()
    this.#socket.write(ping, 'latin1')
  }

  #connectionFailed(error: NodeJS.ErrnoException): void {
    if (this.#status !== undefined) this.#succeed()
    else if (error.code === 'ECONNRESET') this.#connectionEnded()
    else this.#fail(error)
  }

  /** Also called after this side has closed the connection. */
  #connectionEnded(): void {
    if (this.#hasEnded) return
    if (this.#status !== undefined) this.#succeed()
    else if (!this.#hasReceived) {
      this.#fail(new LegacyPeerError('closed', `${this.#target()}: the connection was closed without a reply`))
    } else this.#fail(new SourceError('closed', `${this.#target()}: the connection was closed during the reply`))
  }

  #abort(): void {
    const { reason } = this.#options.signal
    // If only the pong is missing, the poll succeeds.
    if (this.#status !== undefined) this.#succeed()
    else this.#fail(withProgress(toSourceError(reason, this.#target()), 'connected'))
  }

  #succeed(pong?: number): void {
    if (this.#status === undefined) return
    this.#end()
    const { reply, took } = this.#status
    const hasPong = this.#options.ping ? pong !== undefined : undefined
    this.#options.phases?.end('read')
    this.#resolve({ reply, address: this.#address, latency: pong ?? took, hasPong })
  }

  #fail(error: unknown): void {
    this.#end()
    this.#reject(toSourceError(error, this.#target()))
  }

  #end(): void {
    this.#hasEnded = true
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    this.#cancelPongTimer?.()
    this.#socket.destroy()
  }

  #target(): string {
    return formatHostPort(this.#options.server)
  }
}
