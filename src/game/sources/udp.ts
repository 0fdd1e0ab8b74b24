import { createSocket, type Socket } from 'node:dgram'
import type { LookupAddress } from 'node:dns'
import { type AbortSignalLike, abortable } from '../../util/abortable.ts'
import type { Clock } from '../../util/clock.ts'
import { ProtocolError } from '../protocol/error.ts'

/** Milliseconds without a reply after which the request is sent again: the datagram may be lost. */
const resendAfterMs = 500
/** Maximum number of datagrams that are not a reply. */
const maxUnrelated = 200

/**
 * Runs `work` with a connected UDP socket, which receives only datagrams from the peer, and an error if the port is closed. The
 * socket is closed afterwards.
 */
export async function withUdpSocket<T>(
  { address, family }: LookupAddress,
  port: number,
  signal: AbortSignalLike,
  work: (socket: Socket) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  try {
    const connected = new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      // Not with a callback, which is also called on errors, instead of emitting `error`.
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve()
      })
      socket.connect(port, address)
    })
    await abortable(connected, signal)
    return await work(socket)
  } finally {
    socket.close()
  }
}

export interface UdpExchange {
  /** Called each time the request is sent. */
  readonly encodeRequest: () => Buffer
  /** Returns false for a datagram that must be ignored. */
  readonly isReply: (datagram: Buffer) => boolean
  readonly clock: Clock
  readonly signal: AbortSignalLike
}

/** Sends a request, repeatedly until a reply arrives, and returns the reply. */
export async function exchange(socket: Socket, { encodeRequest, isReply, clock, signal }: UdpExchange): Promise<Buffer> {
  let cancel = () => {}
  let unrelated = 0
  const reply = new Promise<Buffer>((resolve, reject) => {
    const send = () => {
      socket.send(encodeRequest(), (error) => error && reject(error))
      cancel = clock.after(resendAfterMs, send)
    }
    socket.on('error', reject)
    socket.on('message', (datagram) => {
      if (isReply(datagram)) resolve(datagram)
      else if (++unrelated > maxUnrelated) reject(new ProtocolError('malformed', 'too many datagrams that are not a reply'))
    })
    send()
  })
  try {
    return await abortable(reply, signal)
  } finally {
    cancel()
    socket.removeAllListeners()
    socket.on('error', () => {})
  }
}
