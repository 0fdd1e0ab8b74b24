import type { FastifyInstance } from 'fastify'
import { problems } from '../../http/replies/problem.ts'
import { type PreparedReply, prepare, prepareJson, sendPrepared, textType } from '../../http/replies/reply.ts'
import { json, preparedReplies, type ReplyDocs, text } from '../../http/replies/responses.ts'
import { version } from '../../util/package.ts'
import { Type } from '../../util/schema.ts'

const help = `Tickwarden data service: projects and comebacks as JSON. All requests use GET.
Routes and parameters: /docs
Status of the databases: /v1/status
The comebacks are read from the wiki at https://www.reddit.com/r/kpop/wiki/upcoming-releases/archive
`

const Headers = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  examples: [{ host: '127.0.0.1:8080', accept: '*/*' }],
})

/**
 * Headers with their names in lower case; repeated ones are joined by commas. Not by `headersDistinct` of Node.js, which throws at
 * names such as `__proto__` before 20.20.2.
 */
function joined(raw: readonly string[]): Record<string, string> {
  const headers = new Map<string, string>()
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name, value] = [(raw[index] ?? '').toLowerCase(), raw[index + 1] ?? '']
    const before = headers.get(name)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(headers)
}

const Version = Type.Array(Type.String(), { minItems: 1, maxItems: 1, examples: [['1.2.3']] })

/** `/v1/help`, `/v1/ping`, `/v1/version`, `/v1/debug/headers` */
export function registerBasic(app: FastifyInstance): void {
  const tags = ['basic']
  const add = (path: string, summary: string, description: string, content: ReplyDocs['content'], reply: PreparedReply) => {
    const response = preparedReplies({ description: summary, content })
    app.get(path, { schema: { tags, summary, description, response } }, (request, to) => sendPrepared(request, to, reply))
  }
  add('/v1/help', 'Help', 'A short introduction, as plain text.', text(help), prepare(help, textType))
  const alive = 'Replies as soon as the service listens, regardless of the state of servers and databases.'
  add('/v1/ping', 'Is the service alive?', alive, text('pong'), prepare('pong', textType))
  add('/v1/version', 'Version of the service', 'A list with one string.', json(Version), prepareJson([version]))
  const summary = 'The headers of this request'
  const schema = {
    tags,
    summary,
    description: 'Names in lower case; repeated headers are joined by commas. Not available to pages of other origins (CORS).',
    response: { 200: { description: summary, content: json(Headers) }, ...problems(400, 429) },
  }
  const { onRequest } = app.clientLimits.rateLimit('clientHeaders')
  app.get('/v1/debug/headers', { schema, onRequest, config: { crossOrigin: false } }, (request, reply) =>
    sendPrepared(request, reply, prepareJson(joined(request.raw.rawHeaders), { 'cache-control': 'no-store' })),
  )
}
