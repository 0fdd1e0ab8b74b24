import net from 'node:net'
import tls from 'node:tls'
import type { AbortSignalLike } from '../../../util/abortable.ts'
import { FileSizeError, readFileUpTo } from '../../../util/files.ts'
import { hostOfUrl } from '../../../util/parse-url.ts'
import { SourceError, toSourceError, toTlsError } from '../../errors.ts'
import type { HostAddresses } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import type { ManagementSettings } from './settings.ts'

/** How to verify the server's certificate. Default: with the certificate authorities of Node.js. */
type Trust = Pick<ManagementSettings, 'caFile' | 'fingerprint'>

/** Far more than all authorities of a system. */
const maxCaBytes = 1024 * 1024

async function tlsOptions(host: string, trust: Trust): Promise<tls.ConnectionOptions> {
  // A pinned certificate is compared in openSocket(), before anything is sent. Nothing else is verified.
  if (trust.fingerprint !== undefined) return { rejectUnauthorized: false, ...(net.isIP(host) === 0 && { servername: host }) }
  const ca = trust.caFile === undefined ? undefined : await readFileUpTo(trust.caFile, maxCaBytes)
  return { ...(ca && { ca }), ...(net.isIP(host) === 0 && { servername: host }) }
}

/**
 * Opens a socket to a `ws:` or `wss:` URL. With TLS, the certificate is verified before anything is written, so that the secret is
 * never sent to an untrusted server.
 * @param hostAddresses those of the URL's host
 * @param signal aborts the attempt with its reason; has no effect once the socket is returned
 * @throws SourceError
 */
export async function openSocket(
  url: URL,
  trust: Trust,
  hostAddresses: HostAddresses,
  signal: AbortSignalLike,
  phases?: PhaseTimer,
): Promise<net.Socket> {
  const secure = url.protocol === 'wss:'
  const host = hostOfUrl(url)
  const port = Number(url.port || (secure ? 443 : 80))
  const target = url.host
  const options = secure
    ? await tlsOptions(host, trust).catch((cause: unknown) => {
        const reason = cause instanceof FileSizeError ? `: ${cause.message}` : ''
        throw new SourceError('tls', `${target}: the CA file cannot be read${reason}`, { cause })
      })
    : undefined
  const addresses = await hostAddresses.resolve(signal).catch((error: unknown) => {
    throw toSourceError(error, target)
  })
  phases?.end('resolve')
  const plain = await hostAddresses.network.connect(addresses, port, signal).catch((error: unknown) => {
    throw toSourceError(error, target)
  })
  phases?.end('connect')
  if (options === undefined) return plain
  const socket = tls.connect({ ...options, host, socket: plain })
  await secureConnected(socket, target, signal)
  phases?.end('tls')
  const actual = socket.getPeerCertificate().fingerprint256
  if (trust.fingerprint !== undefined && actual?.replaceAll(':', '').toLowerCase() !== trust.fingerprint) {
    socket.destroy()
    throw new SourceError(
      'tls',
      `${target}: its certificate has the SHA-256 fingerprint ${actual ?? '(none)'}, not the pinned one`,
    )
  }
  return socket
}

/** Waits for the handshake; an error or the end of the connection destroys the socket. Later errors are ignored: the socket closes. */
function secureConnected(socket: tls.TLSSocket, target: string, signal: AbortSignalLike): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (act: () => void) => {
      signal.removeEventListener('abort', abort)
      act()
    }
    const fail = (error: unknown) =>
      finish(() => {
        socket.destroy()
        reject(error)
      })
    const abort = () => fail(signal.reason)
    socket.on('error', (cause) => fail(toTlsError(cause, target)))
    socket.once('close', () => fail(new SourceError('closed', `${target}: connection closed before it was established`)))
    socket.once('secureConnect', () => finish(resolve))
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}
