import { createSocket, type Socket } from 'node:dgram'
import type { LookupAddress } from 'node:dns'
import { abortable } from '../../abortable.ts'
import type { Clock } from '../../clock.ts'
import { ProtocolError } from '../protocol/error.ts'

/** A datagram may be lost: without a reply the request is sent again after this many milliseconds. */
const resendAfterMs = 500
/** A peer that sends so many datagrams that are not a reply is not worth waiting for. */
const maxUnrelated = 200

/**
 * Runs `work` with a UDP socket that is connected, so that it receives the peer's datagrams only, and an error where the port is
 * closed. The socket is closed afterwards.
 */
export async function withUdpSocket<T>(
  { address, family }: LookupAddress,
  port: number,
  signal: AbortSignal,
  work: (socket: Socket) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  try {
    const connected = new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      // Not by a callback: it is called on a failure too, instead of the event.
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
  /** Called for each time that it is sent. */
  readonly encodeRequest: () => Buffer
  /** False: the datagram is ignored. */
  readonly isReply: (datagram: Buffer) => boolean
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Sends a request, again while no reply comes, and waits for the reply. */
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
