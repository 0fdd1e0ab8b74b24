import { request } from 'node:http'
import { isIP } from 'node:net'
import tls from 'node:tls'
import { type AbortSignalLike, toAbortSignal } from '../util/abortable.ts'
import { toSeconds } from '../util/clock.ts'
import { hostOfUrl } from '../util/parse-url.ts'
import { codeOf, SourceError, toSourceError, toTlsError, withProgress } from './errors.ts'
import { addressesOf, addressOfServer, type Network } from './network.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  /** `http:` or `https:`. */
  readonly url: URL
  /** The host to connect to, if a URL cannot have it: a link-local address with its interface. Default: that of the URL. */
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** A longer body is rejected before it is buffered. */
  readonly maxBytes: number
}

export interface HttpReply {
  readonly status: number
  readonly body: Buffer
  /** The address that answered. */
  readonly address: string | undefined
  /** Seconds from sending the request to receiving the reply's headers; connecting is not included. */
  readonly seconds: number
}

/**
 * Makes one request over a new connection. Redirects are not followed.
 * @param signal aborts the request; the promise rejects with its reason. The connection is always destroyed.
 * @throws SourceError `too_large`, `malformed`, `closed`, `dns` or `tls`; otherwise the system error
 */
export async function requestBounded(
  { method, url, host: connectTo, headers = {}, body, maxBytes }: HttpRequest,
  network: Network,
  signal: AbortSignalLike,
): Promise<HttpReply> {
  const host = hostOfUrl(url)
  const isSecure = url.protocol === 'https:'
  const port = Number(url.port) || (isSecure ? 443 : 80)
  const addresses = await addressesOf(connectTo ?? host, network, signal)
  if (addresses.length === 0) throw new SourceError('dns', `${url.host}: the host name has no addresses`)
  const socket = await network.connect(addresses, port, signal)
  const address = addressOfServer(socket, addresses, network)
  return await new Promise<HttpReply>((resolve, reject) => {
    let connectedAt = isSecure ? 0 : performance.now()
    const connection = isSecure ? tls.connect({ socket, ...(isIP(host) === 0 && { servername: host }) }) : socket
    connection.once('secureConnect', () => {
      connectedAt = performance.now()
    })
    // After an upgrade the request no longer listens: TLS would throw what follows.
    connection.on('error', () => {})
    const outgoing = request({
      method,
      host,
      port,
      path: `${url.pathname}${url.search}`,
      headers: { connection: 'close', ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      signal: toAbortSignal(signal),
      createConnection: () => connection,
    })
    const fail = (error: unknown) => {
      outgoing.destroy()
      socket.destroy()
      if (signal.aborted)
        reject(connectedAt > 0 ? withProgress(toSourceError(signal.reason, url.host), 'connected') : signal.reason)
      else if (codeOf(error).startsWith('HPE_'))
        reject(new SourceError('malformed', `${url.host}: the reply is not HTTP`, { cause: error }))
      else reject(isSecure ? toTlsError(error, url.host) : error)
    }
    outgoing.on('error', fail)
    // Without a listener, Node.js closes the connection and reports nothing.
    outgoing.on('upgrade', ({ statusCode = 0 }) => {
      socket.destroy()
      resolve({ status: statusCode, body: Buffer.alloc(0), address, seconds: toSeconds(performance.now() - connectedAt) })
    })
    outgoing.on('response', (reply) => {
      const seconds = toSeconds(performance.now() - connectedAt)
      const chunks: Buffer[] = []
      let bytes = 0
      reply.on('error', fail)
      reply.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > maxBytes) fail(new SourceError('too_large', `${url.host}: the reply is longer than ${maxBytes} bytes`))
        else chunks.push(chunk)
      })
      reply.on('close', () => {
        socket.destroy()
        if (reply.complete) resolve({ status: reply.statusCode ?? 0, body: Buffer.concat(chunks), address, seconds })
        else fail(new SourceError('closed', `${url.host}: the server closed the connection before the end of its reply`))
      })
    })
    outgoing.end(body)
  })
}
