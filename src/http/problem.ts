import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { RequestError } from '../errors.ts'

/** RFC 9457 problem details; the error body of every route. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: '`about:blank`: the status says it all' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'One sentence for people' }),
    instance: Type.Optional(Type.String({ description: 'Path of the request; absent where none could be read' })),
    code: Type.String({ description: 'Stable identifier, e.g. INVALID_PARAMETER' }),
  },
  { $id: 'Problem', title: 'Problem' },
)

/** The error replies of a route, for its schema: `response: { 200: ..., ...problems(400, 404) }`. */
export const problems = (...statuses: readonly number[]) =>
  Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: STATUS_CODES[status] ?? 'Error',
        content: { 'application/problem+json': { schema: Type.Ref('Problem') } },
      },
    ]),
  )

/** The part of a URL before its query. */
export const pathOf = (url: string): string => url.split('?', 1)[0] ?? '/'

export const problemHeaders = ({ headers }: RequestError): Readonly<Record<string, string>> => ({
  'cache-control': 'no-store',
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

function toRequestError(error: FastifyError | RequestError): RequestError {
  if (error instanceof RequestError) return error
  const status = error.statusCode ?? 500
  // The message of an unexpected error may hold anything; of Fastify's own 4xx it is meant for the client.
  if (status >= 400 && status < 500) return new RequestError(status, error.code ?? 'BAD_REQUEST', error.message)
  return new RequestError(500, 'INTERNAL_ERROR', 'The service failed to answer; its log says why.')
}

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: FastifyError | RequestError): FastifyReply {
  const shown = toRequestError(error)
  if (shown.status >= 500 && !(error instanceof RequestError)) request.log.error({ err: error }, 'request failed')
  return reply
    .code(shown.status)
    .headers(problemHeaders(shown))
    .send(problemBody(shown, pathOf(request.url)))
}
