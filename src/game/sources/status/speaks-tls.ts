import type { Socket } from 'node:net'
import { connect } from 'node:tls'
import type { Clock } from '../../../clock.ts'

/** Milliseconds for a handshake with a server that was reached a moment ago. */
const maxMs = 1_000

/**
 * Whether the peer answers a TLS handshake: some TLS servers close the connection of another protocol without an alert, by which
 * they could be recognised. Never rejects.
 * @param socket a connection under way; destroyed on every path
 */
export function speaksTls(socket: Socket, clock: Pick<Clock, 'after'>, signal: AbortSignal): Promise<boolean> {
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
    // Whose certificate it is does not matter: nothing is sent.
    const session = connect({ socket, rejectUnauthorized: false })
    session.once('secureConnect', () => end(true))
    // An alert is an answer too: the server wants a name, a certificate or another version.
    session.on('error', ({ code = '' }: NodeJS.ErrnoException) => end(/^ERR_SSL_.*ALERT/.test(code)))
    session.on('close', abort)
    if (signal.aborted) abort()
  })
}
