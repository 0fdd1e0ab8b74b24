import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { problems } from '../http/problem.ts'
import { type PreparedReply, prepare, prepareJson, sendPrepared, textType } from '../http/reply.ts'
import { json, preparedReplies, type ReplyDocs, text } from '../http/responses.ts'
import { version } from '../package.ts'

const help = `Tickwarden data service: projects and comebacks as JSON, all by GET.
Every route with its parameters: /docs
State of the two databases: /v1/status
The comebacks are read from the wiki at https://www.reddit.com/r/kpop/wiki/upcoming-releases/archive
`

const Headers = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  examples: [{ host: '127.0.0.1:8080', accept: '*/*' }],
})

/** Header names in lower case; what came more than once is joined. */
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

interface BasicRoute {
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly content: ReplyDocs['content']
  readonly reply: PreparedReply
}

const routes: readonly BasicRoute[] = [
  {
    path: '/v1/help',
    summary: 'Where to find help',
    description: 'A short text for people.',
    content: text(help),
    reply: prepare(help, textType),
  },
  {
    path: '/v1/ping',
    summary: 'Is the service alive?',
    description: 'Answers as soon as the service listens, whatever the state of its servers and databases.',
    content: text('pong'),
    reply: prepare('pong', textType),
  },
  {
    path: '/v1/version',
    summary: 'Version of the service',
    description: 'A list of one text.',
    content: json(Version),
    reply: prepareJson([version]),
  },
]

/** `/v1/help`, `/v1/ping`, `/v1/version`, `/v1/debug/headers` */
export function registerBasic(app: FastifyInstance): void {
  const tags = ['basic']
  for (const { path, summary, description, content, reply } of routes) {
    const response = preparedReplies({ description: summary, content })
    app.get(path, { schema: { tags, summary, description, response } }, (request, to) => sendPrepared(request, to, reply))
  }
  const summary = 'The headers of this request'
  const schema = {
    tags,
    summary,
    description:
      'Names in lower case; a header that was sent more than once is joined by commas. Not for pages of other origins.',
    response: { 200: { description: summary, content: json(Headers) }, ...problems(400) },
  }
  app.get('/v1/debug/headers', { schema, config: { crossOrigin: false } }, (request, reply) =>
    sendPrepared(request, reply, prepareJson(joined(request.raw.rawHeaders), { 'cache-control': 'no-store' })),
  )
}
