import { createHash } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, validateHeaderValue } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsGzip } from './accept.ts'
import { noSniff } from './problem.ts'

/** A reply that is prepared once: body, ETag and headers are not computed per request. */
export interface PreparedReply {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
  /** Whether it is sent compressed to clients that accept that. */
  readonly isCompressible: boolean
}

export const jsonType = 'application/json; charset=utf-8'
export const textType = 'text/plain; charset=utf-8'
export const eventStreamType = 'text/event-stream; charset=utf-8'

/**
 * Headers of every HTML reply besides its content security policy: it needs no permissions of the browser, and is not loaded by
 * other sites.
 */
export const htmlHeaders = {
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
} as const

/** Minimum size of a compressed reply, in bytes. */
const minCompressed = 1024

/**
 * `content-length` is added when the reply is sent. The ETag of a reply that may be compressed is weak, because both forms share
 * it: a 304 confirms whichever form a client has cached.
 */
export function prepare(body: Buffer | string, type: string, headers: Readonly<Record<string, string>> = {}): PreparedReply {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const isCompressible = type === jsonType && bytes.length > minCompressed
  const tag = `"${createHash('sha1').update(type).update(bytes).digest('base64url')}"`
  const vary = [headers.vary, isCompressible ? 'Accept-Encoding' : undefined].filter((name) => name !== undefined).join(', ')
  return {
    body: bytes,
    headers: Object.freeze({
      'content-type': type,
      etag: isCompressible ? `W/${tag}` : tag,
      'cache-control': 'no-cache',
      [noSniff[0]]: noSniff[1],
      // Pictures are made for pages of other sites, some of which load only what allows it.
      ...(type.startsWith('image/') && { 'cross-origin-resource-policy': 'cross-origin' }),
      ...headers,
      ...(vary !== '' && { vary }),
    }),
    isCompressible,
  }
}

export const prepareJson = (value: unknown, headers?: Readonly<Record<string, string>>): PreparedReply =>
  prepare(JSON.stringify(value), jsonType, headers)

const compress = promisify(gzip)
/** Compressed once, in a thread pool, for the first client that accepts it; released with the reply. */
const compressed = new WeakMap<PreparedReply, PreparedReply | Promise<PreparedReply>>()

async function compressReply(prepared: PreparedReply): Promise<PreparedReply> {
  const body = await compress(prepared.body)
  const form = { ...prepared, body, headers: Object.freeze({ ...prepared.headers, 'content-encoding': 'gzip' }) }
  compressed.set(prepared, form)
  return form
}

/** The form of the reply that the client accepts; a promise while it is being compressed. */
export function formFor(request: IncomingMessage, prepared: PreparedReply): PreparedReply | Promise<PreparedReply> {
  if (!prepared.isCompressible || !acceptsGzip(request.headers['accept-encoding'])) return prepared
  const known = compressed.get(prepared)
  if (known !== undefined) return known
  const form = compressReply(prepared).catch((error: unknown) => {
    compressed.delete(prepared)
    throw error
  })
  compressed.set(prepared, form)
  return form
}

const withoutWeakness = (tag: string): string => tag.trim().replace(/^W\//, '')

/** True when `If-None-Match` names the tag (weak comparison, RFC 9110). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const wanted = withoutWeakness(etag)
  return ifNoneMatch.split(',').some((tag) => withoutWeakness(tag) === wanted)
}

/** Unix milliseconds of an HTTP date in one of its three forms (RFC 9110, section 5.6.7); NaN for anything else. */
function parseHttpDate(text: string): number {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return Number.NaN
  // Only the oldest form has no time zone.
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
}

/** Whether the client already has it. `If-Modified-Since` is used only without `If-None-Match`, and if the reply has a date. */
function isFresh({ headers }: IncomingMessage, prepared: PreparedReply): boolean {
  const { 'if-none-match': ifNoneMatch, 'if-modified-since': since } = headers
  const { etag = '', 'last-modified': modified } = prepared.headers
  if (ifNoneMatch !== undefined) return matches(ifNoneMatch, etag)
  return since !== undefined && modified !== undefined && Date.parse(modified) <= parseHttpDate(since)
}

type Headers = Readonly<Record<string, string>>
const none: Headers = Object.freeze({})

/** One form of a reply, prepared once. */
interface Sent {
  readonly crossOrigin: Headers
  /** All headers; those that differ per request are replaced each time. */
  readonly headers: Record<string, string>
  /**
   * The body as Latin-1 text of the same length: Node.js writes it in one call with the headers, which is faster for short
   * bodies.
   */
  readonly body: Buffer | string
}

/** Bytes up to which a body is sent as text. */
const maxText = 4096
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
    body: body.length > maxText ? body : body.toString('latin1'),
  }
  sent.set(prepared, made)
  return made
}

/**
 * Headers of a 304: those of the 200 except for the ones about its body (RFC 9110, section 15.4.5). Checked here, because Node.js
 * sends no body once the status is 304, and an error reply needs one.
 */
function headersWithoutBody(headers: Headers): Headers {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith('content-')) continue
    validateHeaderValue(name, value)
    kept[name] = value
  }
  return kept
}

/**
 * Writes the reply, or 304 without a body if the client already has it.
 * @param prepared in the form that the client accepts, from formFor()
 * @param volatile headers that differ per request; always the same names for one reply
 * @param crossOrigin headers that let pages of other origins read it
 * @returns the status
 * @throws TypeError if a header has invalid characters; nothing is written then
 */
export function writePrepared(
  request: IncomingMessage,
  response: ServerResponse,
  prepared: PreparedReply,
  volatile: Headers,
  crossOrigin: Headers,
): 200 | 304 {
  // One object for all requests: a new one for each takes a third of the time of the whole reply.
  const { headers, body } = sentOf(prepared, crossOrigin)
  for (const name in volatile) headers[name] = volatile[name] ?? ''
  try {
    if (isFresh(request, prepared)) {
      response.writeHead(304, headersWithoutBody(headers)).end()
      return 304
    }
    response.writeHead(200, headers).end(body, 'latin1')
    return 200
  } catch (error) {
    // Node.js sets it before it checks the headers; the error reply would have the reason phrase "OK".
    response.statusMessage = ''
    throw error
  }
}

/**
 * Sends the reply of a route without Fastify's reply.send(), which would cost more than everything else: onSend hooks do not run,
 * onResponse hooks do, and headers set on `reply` before are not sent.
 * @returns a promise while the reply is being compressed, for the route to return
 */
export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  prepared: PreparedReply,
  volatile: Readonly<Record<string, string>> = {},
): void | Promise<void> {
  const send = (form: PreparedReply): void => {
    writePrepared(request.raw, reply.raw, form, volatile, reply.crossOrigin ?? none)
    // Not earlier: if writing fails, the app's error handler answers.
    reply.hijack()
  }
  const form = formFor(request.raw, prepared)
  return form instanceof Promise ? form.then(send) : send(form)
}
