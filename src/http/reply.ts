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

/** Sends it, or 304 without a body where the client has it already. `volatile`: headers that differ per request. */
export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  prepared: PreparedReply,
  volatile: Readonly<Record<string, string>> = {},
): FastifyReply {
  reply.headers(prepared.headers).headers(volatile)
  if (matches(request.headers['if-none-match'], prepared.headers.etag ?? '')) {
    return reply.code(304).removeHeader('content-type').send()
  }
  return reply.send(prepared.body)
}
