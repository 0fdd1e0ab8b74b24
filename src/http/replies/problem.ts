import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RequestError } from '../../util/errors.ts'
import { type Static, Type } from '../../util/schema.ts'

/** RFC 9457 problem details; the error body of every route. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: '`about:blank`: the status is sufficient' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'One sentence for people' }),
    instance: Type.Optional(Type.String({ description: 'Path of the request; absent if it could not be read' })),
    code: Type.String({ description: 'Stable identifier, e.g. INVALID_PARAMETER' }),
  },
  { title: 'Problem' },
)

/** The error for a part of a URL that cannot be decoded. */
export const malformed = (part: string): string =>
  `${part} is not valid: each "%" must begin the code of a byte, and all bytes must be valid UTF-8.`

const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds to wait before the next request' } }

/** The usual error of each status, as an example, and the headers that come with it. */
const usual: Readonly<Record<number, readonly [code: string, detail: string, headers?: object]>> = {
  400: ['INVALID_PARAMETER', malformed('The query')],
  401: [
    'UNAUTHORIZED',
    'This needs the header "Authorization: Bearer <token>".',
    { 'WWW-Authenticate': { type: 'string', description: 'How to authenticate (RFC 6750)' } },
  ],
  403: ['PROTECTED_MODE', 'Without RUN_TOKEN only requests from this machine start a script.'],
  404: ['NOT_FOUND', 'There is no server "nether"; /api/v1/servers lists them.'],
  429: ['TOO_MANY_REQUESTS', 'Too many requests; try again in 30 s.', retryAfter],
  503: ['SERVER_UNREACHABLE', 'The server "survival" has not been reached yet.', retryAfter],
}

export interface ProblemExample {
  readonly code: string
  readonly detail: string
}

/** An error reply of a route, for its schema: `response: { 200: ..., ...problem(503, { code, detail }) }`. */
export function problem(status: number, { code, detail }: ProblemExample) {
  const headers = usual[status]?.[2]
  const title = STATUS_CODES[status] ?? 'Error'
  const example = { type: 'about:blank', title, status, detail, code }
  return {
    [status]: {
      description: title,
      ...(headers && { headers }),
      content: { 'application/problem+json': { schema: Problem, example } },
    },
  }
}

/** The error replies of a route with the usual example of each: `response: { 200: ..., ...problems(400, 404) }`. */
export function problems(...statuses: readonly number[]) {
  const all = statuses.map((status) => {
    const [code = 'ERROR', detail = ''] = usual[status] ?? []
    return problem(status, { code, detail })
  })
  return Object.assign({}, ...all) as ReturnType<typeof problem>
}

/** Prevents browsers from guessing another content type; sent with every reply. */
export const noSniff = ['x-content-type-options', 'nosniff'] as const

/** The part of a URL before its query. */
export const pathOf = (url: string): string => url.split('?', 1)[0] ?? '/'

export const problemHeaders = ({ headers }: RequestError): Readonly<Record<string, string>> => ({
  'cache-control': 'no-store',
  [noSniff[0]]: noSniff[1],
  ...headers,
  'content-type': 'application/problem+json; charset=utf-8',
})

/** @param instance path of the request */
export function problemBody({ status, message, code }: RequestError, instance?: string): Buffer {
  const body: Static<typeof Problem> = {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
    ...(instance !== undefined && { instance }),
    code,
  }
  return Buffer.from(JSON.stringify(body))
}

/** A whole HTTP/1.1 reply, for a connection that is then closed. */
export function problemMessage(error: RequestError): Buffer {
  const body = problemBody(error)
  const headers = { ...problemHeaders(error), 'content-length': String(body.length), connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n`), body])
}

/** The message of an unexpected error may contain anything. Fastify itself finds no error of a client: no body is parsed. */
const unexpected = new RequestError(500, 'INTERNAL_ERROR', 'The service failed to answer; its log has the error.')

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: Error): FastifyReply {
  const shown = error instanceof RequestError ? error : unexpected
  if (shown === unexpected) request.log.error({ err: error }, 'request failed')
  return reply
    .code(shown.status)
    .headers(problemHeaders(shown))
    .send(problemBody(shown, pathOf(request.originalUrl)))
}
