import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A reply made once and sent as it is: body, ETag and headers are never computed per request. */
export interface PreparedReply {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

export const jsonType = 'application/json; charset=utf-8'
export const textType = 'text/plain; charset=utf-8'

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

/** Header names and values in turn, as `writeHead` likes them best; made once per reply. */
const flatHeaders = new WeakMap<PreparedReply, readonly string[]>()

function flatten(prepared: PreparedReply): readonly string[] {
  const before = flatHeaders.get(prepared)
  if (before !== undefined) return before
  const flat = Object.entries({ ...prepared.headers, 'content-length': String(prepared.body.length) }).flat()
  flatHeaders.set(prepared, flat)
  return flat
}

/** 304 carries what the 200 would, but of the body (RFC 9110, 15.4.5). */
const isOfBody = (name: string): boolean => name === 'content-type' || name === 'content-length'

/**
 * Sends it, or 304 without a body where the client has it already. Past Fastify's own sending, which would cost more than
 * all the rest: hooks of onSend do not run, those of onResponse do, and headers set on `reply` before are not sent.
 * @param volatile headers that differ per request
 */
export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  prepared: PreparedReply,
  volatile: Readonly<Record<string, string>> = {},
): void {
  const headers: string[] = [...(reply.crossOrigin ?? [])]
  for (const name in volatile) headers.push(name, volatile[name] ?? '')
  reply.hijack()
  if (matches(request.headers['if-none-match'], prepared.headers.etag ?? '')) {
    for (const [name, value] of Object.entries(prepared.headers)) if (!isOfBody(name)) headers.push(name, value)
    reply.raw.writeHead(304, headers).end()
  } else {
    reply.raw.writeHead(200, headers.concat(flatten(prepared))).end(prepared.body)
  }
}
