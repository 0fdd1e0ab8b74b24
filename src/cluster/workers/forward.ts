import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { unavailable } from '../../errors.ts'
import { pathOf, problemBody, problemHeaders } from '../../http/problem.ts'

/**
 * Passes requests for some paths, and for everything below them, on to the process that polls, and its replies back. There they are
 * counted and checked as here.
 * @param socketPath path of the socket that it listens on
 */
export function registerForwarding(app: FastifyInstance, paths: readonly string[], socketPath: string): void {
  const isForwarded = (path: string) => paths.some((one) => path === one || path.startsWith(`${one}/`))
  app.addHook('onRequest', (request, reply, done) => {
    // Decoded, as the router does it; what cannot be decoded never comes here.
    if (!isForwarded(decodeURI(pathOf(request.url)))) return done()
    reply.hijack()
    forward(request.raw, reply.raw, socketPath)
  })
}

function forward(request: IncomingMessage, response: ServerResponse, socketPath: string): void {
  const { method, url, basePath = '' } = request
  // No route reads a body.
  const { 'content-length': length, 'transfer-encoding': coding, expect, ...headers } = request.headers
  // Only the one that counts here: the other process trusts this one.
  if (headers['x-forwarded-prefix'] !== undefined) headers['x-forwarded-prefix'] = basePath || '/'
  const forwarded = openRequest({ socketPath, method, path: url, headers: { ...headers, connection: 'close' } }, (reply) => {
    const { connection, 'keep-alive': keepAlive, 'transfer-encoding': encoding, ...kept } = reply.headers
    // Set here already, by the app.
    for (const name of Object.keys(kept)) response.removeHeader(name)
    response.writeHead(reply.statusCode ?? 502, kept)
    reply.pipe(response)
    reply.once('error', () => response.destroy())
  })
  forwarded.once('error', () => {
    if (response.headersSent) return response.destroy()
    const error = unavailable('STARTING', 'The process that polls the servers does not answer; try again in a moment.', 1)
    return response.writeHead(error.status, problemHeaders(error)).end(problemBody(error, pathOf(url ?? '/')))
  })
  response.once('close', () => forwarded.destroy())
  request.resume()
  forwarded.end()
}
