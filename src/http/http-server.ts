import {
  createServer,
  type IncomingMessage,
  maxHeaderSize,
  type OutgoingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError, FastifyReply, FastifyRequest } from 'fastify'
import { RequestError } from '../util/errors.ts'
import { addOriginalUrl, type BasePathOptions, redirectToBase, removeBasePath, sentPrefixOf } from './base-path.ts'
import { type ConnectionLimitOptions, createConnectionLimit } from './clients/connection-limit.ts'
import { routeOtherMethod } from './other-methods.ts'
import { createPipelineCheck } from './pipelining.ts'
import { malformed, noSniff, pathOf, problemBody, problemHeaders, problemMessage } from './replies/problem.ts'
import { normaliseTarget } from './request-target.ts'

/** Time limits of a listener, in milliseconds. */
export const timeLimits = {
  /** Until the request line and the headers have arrived. */
  headersMs: 10_000,
  /** Until the whole request, including its body, has arrived. */
  requestMs: 30_000,
  /** Until an idle connection is closed: longer than the usual minute between two scrapes, and the 60 s of the usual reverse proxies. */
  keepAliveMs: 75_000,
  /** Until a connection is closed whose client does not read the reply. Longer than any route takes to reply. */
  stalledMs: 60_000,
  /** Between two checks of the first two. */
  checkMs: 5_000,
}
export type TimeLimits = Readonly<typeof timeLimits>

interface ServerOptions extends BasePathOptions, ConnectionLimitOptions {
  readonly isDemo?: boolean
}

/** Header of every reply about the built-in demo server. */
const demoHeader = ['X-Demo', 'true'] as const

/**
 * Options of the app that create its server: requests that Node.js would refuse with an empty reply, or that are not HTTP, are
 * answered with problem details, and requests with a prepared reply do not go through the app.
 * @param answerDirectly returns false if the app is to answer
 * @param isDemo whether replies under /api/v1 have the header for data of the demo server
 * @param maxConnections maximum number of connections of one client
 * @param basePaths the prefix that a reverse proxy may leave in the path
 */
export function createServerFactory(
  answerDirectly: (request: IncomingMessage, response: ServerResponse) => boolean,
  { headersMs, requestMs, keepAliveMs, stalledMs, checkMs }: TimeLimits,
  { isDemo = false, maxConnections, ...basePaths }: ServerOptions = {},
) {
  /** The newest request with a body, by connection. */
  const requests = new WeakMap<Socket, IncomingMessage>()
  const isAccepted = createPipelineCheck()
  const limitConnection = createConnectionLimit({ ...basePaths, ...(maxConnections !== undefined && { maxConnections }) })

  function serverFactory(handle: RequestListener) {
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      if (!isAccepted(request, response)) return
      const { headers } = request
      if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
        requests.set(request.socket, request)
      }
      const error = requestError(request)
      const sent = sentPrefixOf(request, basePaths)
      const basePath = sent ?? basePaths.basePath ?? ''
      if (basePath !== '') {
        // A sent prefix was removed: removing another one would serve a path that the proxy has not seen, and may block.
        if (sent === undefined) {
          if (error === undefined && redirectToBase(request, response, basePath)) return
          removeBasePath(request, basePath)
        }
        addOriginalUrl(request, basePath)
      }
      request.basePath = basePath
      // Here, because prepared replies run no hooks.
      if (isDemo && /^\/api\/v1(?![^/?])/.test(request.url ?? '')) response.setHeader(...demoHeader)
      if (error !== undefined) refuse(request, response, error)
      else if (!answerDirectly(request, response)) {
        response.setHeader(...noSniff)
        routeOtherMethod(request)
        handle(request, response)
      }
    }
    const options = {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: checkMs,
      requireHostHeader: false,
    }
    return (
      createServer(options, listener)
        .setTimeout(stalledMs)
        .on('connection', limitConnection)
        // No route reads a body, so a client is never invited to send one.
        .on('checkContinue', listener)
        .on('checkExpectation', (request, response) => {
          const detail = 'The only supported expectation is 100-continue.'
          refuse(request, response, new RequestError(417, 'EXPECTATION_FAILED', detail))
        })
    )
  }

  function clientErrorHandler(failure: ConnectionError, socket: Socket): void {
    if (failure.code === 'ECONNRESET' || socket.destroyed) return
    // The request whose body failed may have been answered already: the client would take a second reply for that of its next
    // request.
    const isAnswered = requests.get(socket)?.complete === false
    if (!socket.writable || isAnswered) {
      socket.destroy()
      return
    }
    socket.write(problemMessage(connectionError(failure)))
    // Without the error as a reason: the socket has no error listener.
    socket.destroySoon()
  }

  return { serverFactory, clientErrorHandler }
}

/** Characters of a host name, an address and a port (RFC 3986, section 3.2.2). */
const validHost = /^[\w.~!$&'()*+,;=%:[\]-]*$/

/**
 * RFC 9112, section 3.2: the target of a request has a path, and an HTTP/1.1 request must have exactly one Host header, with a valid
 * value.
 */
function requestError(request: IncomingMessage): RequestError | undefined {
  const hasPath = normaliseTarget(request)
  const { headers, httpVersion, rawHeaders } = request
  const { host = '' } = headers
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  const malformed = (reason: string) =>
    new RequestError(400, 'MALFORMED_REQUEST', `The request is not valid HTTP/1.1: ${reason}.`)
  if (!hasPath) return malformed('its target is not a path')
  if (count > 1) return malformed(`it has ${count} Host headers; one is needed`)
  if (count === 0 && httpVersion !== '1.0') return malformed('it has no Host header; one is needed')
  return validHost.test(host) ? undefined : malformed('its Host header is not a host name or address')
}

function writeProblem(response: ServerResponse, error: RequestError, url: string, headers: OutgoingHttpHeaders = {}): void {
  const body = problemBody(error, pathOf(url))
  response.writeHead(error.status, { ...problemHeaders(error), 'content-length': body.length, ...headers }).end(body)
}

const refuse = ({ url = '/' }: IncomingMessage, response: ServerResponse, error: RequestError): void =>
  writeProblem(response, error, url, { connection: 'close' })

/** Why a connection failed before a request could be read from it. */
function connectionError({ code, message }: ConnectionError): RequestError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new RequestError(408, 'REQUEST_TIMEOUT', 'The request took too long to arrive.')
  if (code === 'HPE_HEADER_OVERFLOW') {
    const detail = `The URL and the headers of the request are longer than ${maxHeaderSize} bytes.`
    return new RequestError(431, 'HEADERS_TOO_LARGE', detail)
  }
  // The messages of the parser contain nothing of the request.
  const reason = code.startsWith('HPE_') ? ` (${message.replace(/^Parse Error: /, '')})` : ''
  return new RequestError(400, 'MALFORMED_REQUEST', `The request is not valid HTTP/1.1${reason}.`)
}

/** Answers a request whose path is not valid. It has no route, and no hook runs. */
export function invalidPath(_: unknown, request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack()
  writeProblem(reply.raw, new RequestError(400, 'INVALID_PATH', malformed('The path')), request.originalUrl)
}
