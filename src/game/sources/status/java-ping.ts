import type { Socket } from 'node:net'
import type { Clock } from '../../../clock.ts'
import { SourceError, toSourceError, withProgress } from '../../errors.ts'
import type { PhaseTimer } from '../../phases.ts'
import { createFrameReader, type Frame } from '../../protocol/frames.ts'
import { decodePing, encodeHandshake, encodePing, statusRequest } from '../../protocol/status.ts'
import { recogniseOther } from './recognise.ts'

const pingPayload = 0x7469636b77617264n
const ping = encodePing(pingPayload)

export interface JavaPing<T> {
  /** The decoded reply. */
  readonly reply: T
  /** The remote address. */
  readonly address: string | undefined
  /** Milliseconds from ping to pong, or from request to reply if no pong arrived. */
  readonly latency: number
  /** False if no pong arrived in time. */
  readonly hasPong: boolean
}

export interface JavaPingOptions<T> {
  /** A connecting socket. Always destroyed. Its chunks are used only during their events. */
  readonly socket: Socket
  /** Created by encodeHello(). */
  readonly hello: Buffer
  /**
   * Decodes the reply. The body of the frame is a view that is not valid after the call.
   * @throws ProtocolError if it is not a status reply
   */
  readonly decode: (reply: Frame) => T
  /** For messages. */
  readonly target: string
  readonly clock: Clock
  readonly phases: PhaseTimer | undefined
  readonly signal: AbortSignal
  /** Whether to send a ping after the status. */
  readonly ping: boolean
}

/** The peer behaves like a server up to 1.6: it closed the connection without a reply, or sent a legacy kick packet. */
export class LegacyPeerError extends SourceError {}

/** Encodes the first bytes on the connection: the handshake with the given address, and the status request. */
export function encodeHello(host: string, port: number): Buffer {
  return Buffer.concat([encodeHandshake({ protocol: -1, host, port, next: 1 }), statusRequest])
}

/**
 * Handshake, status and ping over one connection (https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping).
 * @throws SourceError
 */
export function pingJava<T>(options: JavaPingOptions<T>): Promise<JavaPing<T>> {
  const { socket, hello, decode, target, clock, phases, signal, ping: sendPing } = options
  return new Promise((resolve, reject) => {
    const frames = createFrameReader()
    let connected = false
    let hasReceived = false
    let address: string | undefined
    let sent = 0
    let status: { readonly reply: T; readonly took: number } | undefined
    let cancelPongTimer = () => {}

    const end = () => {
      signal.removeEventListener('abort', onAbort)
      cancelPongTimer()
      socket.destroy()
    }
    const fail = (error: unknown) => {
      end()
      reject(toSourceError(error, target))
    }
    const succeed = (pong?: number) => {
      if (status === undefined) return
      end()
      resolve({ reply: status.reply, address, latency: pong ?? status.took, hasPong: pong !== undefined })
    }
    function onAbort() {
      // If only the pong is missing, the poll succeeds.
      if (status === undefined) fail(connected ? withProgress(toSourceError(signal.reason, target), 'connected') : signal.reason)
      else succeed()
    }
    const onFrame = (frame: Frame) => {
      const took = clock.now() - sent
      if (status !== undefined) {
        succeed(decodePing(frame) === pingPayload ? took : undefined)
        return
      }
      status = { reply: decode(frame), took }
      if (!sendPing) {
        succeed()
        return
      }
      cancelPongTimer = clock.after(Math.min(1_000, Math.max(100, 4 * took)), () => succeed())
      sent = clock.now()
      socket.write(ping)
    }
    const onEnd = () => {
      if (status !== undefined) succeed()
      else if (connected && !hasReceived)
        fail(new LegacyPeerError('closed', `${target}: the connection was closed without a reply`))
      else fail(new SourceError('closed', `${target}: the connection was closed during the reply`))
    }

    if (signal.aborted) {
      socket.on('error', () => {})
      onAbort()
      return
    }
    signal.addEventListener('abort', onAbort, { once: true })
    socket.on('connect', () => {
      connected = true
      phases?.end('connect')
      address = socket.remoteAddress
      sent = clock.now()
      socket.write(hello)
    })
    socket.on('data', (chunk: Buffer) => {
      if (socket.destroyed) return
      try {
        if (!hasReceived && isLegacyKick(chunk)) {
          throw new LegacyPeerError('malformed', `${target}: the reply is a legacy one, of a server up to 1.6`)
        }
        const other = hasReceived ? undefined : recogniseOther(chunk)
        if (other !== undefined)
          throw new SourceError('malformed', `${target}: this looks like ${other}; set the port that players use`)
        if (!hasReceived) phases?.end('first_byte')
        hasReceived = true
        frames.push(chunk)
        for (let frame = frames.next(); frame !== undefined && !socket.destroyed; frame = frames.next()) onFrame(frame)
      } catch (error) {
        if (status === undefined) fail(error)
        else succeed()
      }
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (status !== undefined) succeed()
      else if (error.code === 'ECONNRESET' && connected) onEnd()
      else fail(error)
    })
    socket.on('end', onEnd)
    socket.on('close', onEnd)
  })
}

/** Packet id FF and a length below 256, which is not a valid frame of a modern server. */
function isLegacyKick(chunk: Buffer): boolean {
  return chunk[0] === 0xff && chunk[1] === 0
}
