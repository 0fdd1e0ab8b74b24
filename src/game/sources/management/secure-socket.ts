import { readFile } from 'node:fs/promises'
import net from 'node:net'
import tls from 'node:tls'
import { SourceError, toSourceError } from '../../errors.ts'
import { addressesOf, type Network } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'

/** What makes a server's certificate trusted; with neither, the authorities that Node.js knows. */
export interface Trust {
  /** PEM file with the authority that signed it. */
  readonly caFile?: string
  /** SHA-256 of the certificate itself, 64 hexadecimal digits in lower case: for a self-signed one. */
  readonly fingerprint?: string
}

async function tlsOptions(host: string, trust: Trust): Promise<tls.ConnectionOptions> {
  // A pinned certificate is compared below, before anything is sent; nothing else about it matters then.
  if (trust.fingerprint !== undefined) return { rejectUnauthorized: false, ...(net.isIP(host) === 0 && { servername: host }) }
  const ca = trust.caFile === undefined ? undefined : await readFile(trust.caFile)
  return { ...(ca && { ca }), ...(net.isIP(host) === 0 && { servername: host }) }
}

/**
 * A connected socket to a `ws:` or `wss:` URL. With TLS the certificate is checked before the first byte is handed to it, so that
 * a secret never goes to a stranger.
 * @param signal ends the attempt with its reason; has no effect once the socket was handed out
 * @throws SourceError
 */
export async function openSocket(
  url: URL,
  trust: Trust,
  network: Network,
  signal: AbortSignal,
  phases?: PhaseTimer,
): Promise<net.Socket> {
  const secure = url.protocol === 'wss:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || (secure ? 443 : 80))
  const target = url.host
  const options = secure
    ? await tlsOptions(host, trust).catch((cause: unknown) => {
        throw new SourceError('tls', `${target}: the CA file cannot be read`, { cause })
      })
    : undefined
  const addresses = await addressesOf(host, network, signal).catch((error: unknown) => {
    throw toSourceError(error, target)
  })
  phases?.end('resolve')
  const plain = network.connect(addresses, port)
  await ready(plain, 'connect', target, signal)
  phases?.end('connect')
  if (options === undefined) return plain
  const socket = tls.connect({ ...options, host, socket: plain })
  await ready(socket, 'secureConnect', target, signal)
  phases?.end('tls')
  const shown = socket.getPeerCertificate().fingerprint256
  if (trust.fingerprint !== undefined && shown?.replaceAll(':', '').toLowerCase() !== trust.fingerprint) {
    socket.destroy()
    throw new SourceError(
      'tls',
      `${target}: its certificate has the SHA-256 fingerprint ${shown ?? '(none)'}, not the pinned one`,
    )
  }
  return socket
}

/** Waits for the event; whatever comes instead destroys the socket. Errors of the socket after it are ignored: it closes then. */
function ready(socket: net.Socket, event: 'connect' | 'secureConnect', target: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      signal.removeEventListener('abort', abort)
      act()
    }
    const fail = (error: unknown) =>
      settle(() => {
        socket.destroy()
        reject(error)
      })
    const abort = () => fail(signal.reason)
    socket.on('error', (cause: Error) => {
      const error = toSourceError(cause, target)
      const isTls = event === 'secureConnect' && error.code === 'internal'
      // What OpenSSL says at length, with places in its own code, has its point in the reason.
      const reason = 'reason' in cause ? String(cause.reason) : cause.message
      fail(isTls ? new SourceError('tls', `${target}: no trusted TLS connection (${reason})`, { cause }) : error)
    })
    socket.once('close', () => fail(new SourceError('closed', `${target}: closed before the connection was made`)))
    socket.once(event, () => settle(resolve))
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}
