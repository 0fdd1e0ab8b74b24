import type { Socket } from 'node:net'
import { connect } from 'node:tls'
import type { AbortSignalLike } from '../../../util/abortable.ts'
import type { Clock } from '../../../util/clock.ts'

/** Timeout of the handshake in milliseconds. The server has just been reached. */
const maxMs = 1_000

/**
 * Returns whether the peer answers a TLS handshake. Needed because some TLS servers close a connection of another protocol without an
 * alert. Never rejects.
 * @param socket connected. Always destroyed.
 */
export function speaksTls(socket: Socket, clock: Pick<Clock, 'after'>, signal: AbortSignalLike): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (answer: boolean) => {
      cancel()
      signal.removeEventListener('abort', abort)
      session.destroy()
      socket.destroy()
      resolve(answer)
    }
    const abort = () => end(false)
    const cancel = clock.after(maxMs, abort)
    signal.addEventListener('abort', abort, { once: true })
    socket.on('error', abort)
    socket.on('close', abort)
    // The certificate is not verified, since no data is sent.
    const session = connect({ socket, rejectUnauthorized: false })
    session.once('secureConnect', () => end(true))
    // An alert is a reply too: the server may require a name, a certificate or another version.
    session.on('error', ({ code = '' }: NodeJS.ErrnoException) => end(/^ERR_SSL_.*ALERT/.test(code)))
    session.on('close', abort)
    if (signal.aborted) abort()
  })
}
