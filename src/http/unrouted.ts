import { maxHeaderSize, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError, FastifyReply, FastifyRequest } from 'fastify'
import { RequestError } from '../errors.ts'
import { pathOf, problemBody, problemHeaders } from './problem.ts'

type Headers = Readonly<Record<string, string>>

/** How errors are answered that are found before there is a route, so that no hook runs: options of the app. */
export const unroutedErrors = (crossOrigin: Headers) => ({
  frameworkErrors(_: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const path = pathOf(request.raw.url ?? '/')
    const detail = 'The path is not valid: each "%" must begin the code of a byte, and all bytes together must be UTF-8.'
    const error = new RequestError(400, 'INVALID_PATH', detail)
    reply.hijack()
    reply.raw.writeHead(error.status, { ...problemHeaders(error), ...crossOrigin }).end(problemBody(error, path))
  },
  clientErrorHandler(failure: ConnectionError, socket: Socket): void {
    if (failure.code === 'ECONNRESET' || socket.destroyed) return
    const error = ofConnection(failure)
    const body = problemBody(error)
    const headers = { ...problemHeaders(error), ...crossOrigin, 'content-length': String(body.length), connection: 'close' }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    if (socket.writable) {
      socket.write(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n`)
      socket.write(body)
    }
    // Not with the failure: nobody listens for it.
    socket.destroySoon()
  },
})

/** What is wrong with what came over a connection; no path could be read of it. */
function ofConnection({ code, message }: ConnectionError): RequestError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new RequestError(408, 'REQUEST_TIMEOUT', 'The request took too long to arrive.')
  if (code === 'HPE_HEADER_OVERFLOW') {
    const detail = `The URL and the headers of the request are longer than ${maxHeaderSize} bytes together.`
    return new RequestError(431, 'HEADERS_TOO_LARGE', detail)
  }
  // The parser's messages are its own words, nothing of the request.
  const reason = code.startsWith('HPE_') ? ` (${message.replace(/^Parse Error: /, '')})` : ''
  return new RequestError(400, 'MALFORMED_REQUEST', `The request is not valid HTTP/1.1${reason}.`)
}
