import { request } from 'node:http'
import tls from 'node:tls'
import { SourceError } from './errors.ts'
import { addressesOf, type Network } from './network.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  /** `http:` or `https:`. */
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** A longer body is refused before it is buffered. */
  readonly maxBytes: number
}

export interface HttpReply {
  readonly status: number
  readonly body: Buffer
}

const isParseError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('HPE_')

/**
 * One request over a connection of its own. Redirects are not followed, and the body is bounded.
 * @param signal its reason rejects the promise; the connection is destroyed on every path
 * @throws SourceError `too_large`, `malformed`, `closed`, `dns`; else the error of the system
 */
export async function requestBounded(
  { method, url, headers = {}, body, maxBytes }: HttpRequest,
  network: Network,
  signal: AbortSignal,
): Promise<HttpReply> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isSecure = url.protocol === 'https:'
  const port = Number(url.port) || (isSecure ? 443 : 80)
  const addresses = await addressesOf(host, network, signal)
  if (addresses.length === 0) throw new SourceError('dns', `${url.host}: the name has no address`)
  return await new Promise<HttpReply>((resolve, reject) => {
    const socket = network.connect(addresses, port)
    const outgoing = request({
      method,
      host,
      port,
      path: `${url.pathname}${url.search}`,
      headers: { connection: 'close', ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      signal,
      createConnection: () => (isSecure ? tls.connect({ socket, servername: host }) : socket),
    })
    const fail = (error: unknown) => {
      outgoing.destroy()
      socket.destroy()
      if (signal.aborted) reject(signal.reason)
      else if (isParseError(error)) reject(new SourceError('malformed', `${url.host}: the reply is not HTTP`, { cause: error }))
      else reject(error)
    }
    outgoing.on('error', fail)
    outgoing.on('response', (reply) => {
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
        if (reply.complete) resolve({ status: reply.statusCode ?? 0, body: Buffer.concat(chunks) })
        else fail(new SourceError('closed', `${url.host}: the server closed the connection before the end of its reply`))
      })
    })
    outgoing.end(body)
  })
}
