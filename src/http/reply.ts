import { createHash } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, validateHeaderValue } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A reply made once and sent as it is: body, ETag and headers are never computed per request. */
export interface PreparedReply {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

export const jsonType = 'application/json; charset=utf-8'
export const textType = 'text/plain; charset=utf-8'
export const eventStreamType = 'text/event-stream; charset=utf-8'

/** Headers of every reply that any origin may read. `content-length` is left to Fastify. */
export function prepare(body: Buffer | string, type: string, headers: Readonly<Record<string, string>> = {}): PreparedReply {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const etag = `"${createHash('sha1').update(type).update(bytes).digest('base64url')}"`
  return {
    body: bytes,
    headers: Object.freeze({
      'content-type': type,
      etag,
      'cache-control': 'no-cache',
      ...headers,
    }),
  }
}

export const prepareJson = (value: unknown, headers?: Readonly<Record<string, string>>): PreparedReply =>
  prepare(JSON.stringify(value), jsonType, headers)

/** True when `If-None-Match` names the tag (weak comparison, RFC 9110). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

type Headers = Readonly<Record<string, string>>
const none: Headers = Object.freeze({})

/** What a reply is sent as, made once. */
interface Sent {
  readonly crossOrigin: Headers
  /** All of them; those that differ per request are set anew in it for each. */
  readonly headers: Record<string, string>
  /** As Latin-1 text, which is as many bytes: Node writes that and the headers at once, up to some length faster. */
  readonly body: Buffer | string
}

/** Bytes up to which a body is sent as text. */
const mostText = 4096
const sent = new WeakMap<PreparedReply, Sent>()

function sentOf(prepared: PreparedReply, crossOrigin: Headers): Sent {
  const before = sent.get(prepared)
  if (before?.crossOrigin === crossOrigin) return before
  const { body, headers } = prepared
  const vary = [crossOrigin.vary, headers.vary].filter((name) => name !== undefined).join(', ')
  const made = {
    crossOrigin,
    headers: {
      ...crossOrigin,
      ...headers,
      ...(vary !== '' && { vary }),
      'content-length': String(body.length),
    },
    body: body.length > mostText ? body : body.toString('latin1'),
  }
  sent.set(prepared, made)
  return made
}

/**
 * What a 304 carries: what the 200 would, but of the body (RFC 9110, 15.4.5). Looked at here, because once told of a 304
 * Node sends no body any more, which the error reply needs.
 */
function ofNoBody(headers: Headers): Headers {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'content-type' || name === 'content-length') continue
    validateHeaderValue(name, value)
    kept[name] = value
  }
  return kept
}

/**
 * Writes it, or 304 without a body where the client has it already.
 * @param volatile headers that differ per request; of one reply always the same names
 * @param crossOrigin headers that let pages of other origins read it
 * @returns the status
 * @throws TypeError where a header holds what it must not; nothing is written then
 */
export function writePrepared(
  request: IncomingMessage,
  response: ServerResponse,
  prepared: PreparedReply,
  volatile: Headers,
  crossOrigin: Headers,
): 200 | 304 {
  // One object kept for all requests, written at once: a fresh one for each costs a third of the whole reply in Node.
  const { headers, body } = sentOf(prepared, crossOrigin)
  for (const name in volatile) headers[name] = volatile[name] ?? ''
  try {
    if (matches(request.headers['if-none-match'], prepared.headers.etag ?? '')) {
      response.writeHead(304, ofNoBody(headers)).end()
      return 304
    }
    response.writeHead(200, headers).end(body, 'latin1')
    return 200
  } catch (error) {
    // Node has set it before it looked at the headers; the error reply would be called "500 OK".
    response.statusMessage = ''
    throw error
  }
}

/**
 * Answers a route with it. Past Fastify's own sending, which would cost more than all the rest: hooks of onSend do not
 * run, those of onResponse do, and headers set on `reply` before are not sent.
 */
export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  prepared: PreparedReply,
  volatile: Readonly<Record<string, string>> = {},
): void {
  writePrepared(request.raw, reply.raw, prepared, volatile, reply.crossOrigin ?? none)
  // Only now: what could not be written is left to the app's error handler.
  reply.hijack()
}
