import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { unavailable } from '../../errors.ts'
import { methodOf } from '../../http/other-methods.ts'
import { pathOf, problemBody, problemHeaders } from '../../http/problem.ts'
import type { PrimaryState } from './silence.ts'

/** How a worker reaches the primary process. */
export interface Forwarding {
  /** Path of the socket of the primary process. */
  readonly socketPath: string
  /** A suspended process accepts connections and never replies: its requests are aborted. */
  readonly primary: Pick<PrimaryState, 'unresponsive'>
}

/** Forwards requests for some paths, and everything below them, to the primary process, which also counts and authorises them. */
export function registerForwarding(app: FastifyInstance, paths: readonly string[], forwarding: Forwarding): void {
  const isForwarded = (path: string) => paths.some((one) => path === one || path.startsWith(`${one}/`))
  app.addHook('onRequest', (request, reply, done) => {
    // Decoded, as the router does; a path that cannot be decoded never gets here.
    if (!isForwarded(decodeURI(pathOf(request.url)))) return done()
    reply.hijack()
    forward(request.raw, reply.raw, forwarding)
  })
}

function forward(request: IncomingMessage, response: ServerResponse, { socketPath, primary }: Forwarding): void {
  const { url, basePath = '' } = request
  const method = methodOf(request)
  // The body is not forwarded: no route reads one.
  const { 'content-length': length, 'transfer-encoding': coding, expect, ...headers } = request.headers
  // Only the address that this process has determined: the primary process trusts it.
  if (headers['x-forwarded-prefix'] !== undefined) headers['x-forwarded-prefix'] = basePath || '/'
  const path = request.isAbsoluteForm ? `http://${headers.host}${url}` : url
  const target = { socketPath, method, path, signal: primary.unresponsive }
  const forwarded = openRequest({ ...target, headers: { ...headers, connection: 'close' } }, (reply) => {
    const { connection, 'keep-alive': keepAlive, 'transfer-encoding': encoding, ...kept } = reply.headers
    // Remove headers that this app has already set.
    for (const name of Object.keys(kept)) response.removeHeader(name)
    response.writeHead(reply.statusCode ?? 502, kept)
    reply.pipe(response)
    reply.once('error', () => response.destroy())
  })
  forwarded.once('error', () => {
    if (response.headersSent) return response.destroy()
    const error = unavailable('STARTING', 'The primary process does not respond; try again in a moment.', 1)
    return response.writeHead(error.status, problemHeaders(error)).end(problemBody(error, pathOf(url ?? '/')))
  })
  response.once('close', () => forwarded.destroy())
  request.resume()
  forwarded.end()
}
