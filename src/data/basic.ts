import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { prepare, prepareJson, sendPrepared, textType } from '../http/reply.ts'
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

const text = (example: string) => ({ 200: { content: { 'text/plain': { schema: Type.String({ examples: [example] }) } } } })

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

/** `/v1/help`, `/v1/ping`, `/v1/version`, `/v1/debug/headers` */
export function registerBasic(app: FastifyInstance): void {
  const tags = ['basic']
  const replies = {
    help: prepare(help, textType),
    ping: prepare('pong', textType),
    version: prepareJson([version]),
  }
  app.get('/v1/help', { schema: { tags, summary: 'Where to find help', response: text(help) } }, (request, reply) =>
    sendPrepared(request, reply, replies.help),
  )
  app.get('/v1/ping', { schema: { tags, summary: 'Is the service alive?', response: text('pong') } }, (request, reply) =>
    sendPrepared(request, reply, replies.ping),
  )
  const Version = Type.Array(Type.String(), { minItems: 1, maxItems: 1, examples: [['1.2.3']] })
  app.get('/v1/version', { schema: { tags, summary: 'Version of the back-end', response: { 200: Version } } }, (request, reply) =>
    sendPrepared(request, reply, replies.version),
  )
  app.get(
    '/v1/debug/headers',
    { schema: { tags, summary: 'The headers of this request', response: { 200: Headers } }, config: { crossOrigin: false } },
    (request, reply) =>
      sendPrepared(request, reply, prepareJson(joined(request.raw.rawHeaders), { 'cache-control': 'no-store' })),
  )
}
