import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { ProtocolError } from '../../src/game/protocol/error.ts'
import { parseStatusReply } from '../../src/game/protocol/status/status-reply.ts'
import { comeback, project, snapshot } from '../helpers/data-service.ts'
import { exampleServer, silentServer } from '../helpers/example-server.ts'
import type { OpenApi } from '../helpers/openapi-replies.ts'
import { buildTestApp } from '../helpers/test-app.ts'
import { status } from './examples.ts'
import { changed } from './mutations.ts'

const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
/** A request takes about a millisecond, and there are seventy routes. */
const numRuns = Number(process.env.FUZZ_RUNS ?? 2_000)

const databases = `databases:
  - name: books
    file: books.json
    order: [-read, title]
    fields:
      title: { kind: text, required: true }
      tags: { kind: values }
      read: { kind: date }
      rating: { kind: number }
`

const headers = {
  accept: 'text/html;q=0.5, image/png, */*;q=0.1',
  'accept-encoding': 'gzip;q=0.5, br',
  'accept-language': 'de-DE, en;q=0.5',
  authorization: 'Bearer x',
  host: 'a.test:81',
  'if-none-match': 'W/"a", "b"',
  'last-event-id': '1-2',
  'x-forwarded-for': '192.0.2.1, ::1',
  'x-forwarded-host': 'b.test',
  'x-forwarded-proto': 'https',
  'x-forwarded-prefix': '/mc',
}

interface Request {
  readonly path: string
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, unknown>>
}

/** Parts of a request as a client can send them: Node.js refuses control characters in headers before the service sees them. */
const inHeader = (value: unknown): string =>
  String(JSON.stringify(value))
    .replace(/^"|"$/g, '')
    .replaceAll(/[^\x20-\x7e]/g, '')

it(`no query, path or header causes an internal error (FUZZ_SEED=${seed})`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tickwarden-fuzz-http-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'projects.json'), snapshot([project()]))
  await writeFile(join(folder, 'kcomebacks.json'), snapshot([comeback()]))
  await writeFile(join(folder, 'books.json'), snapshot([{ title: 'A', tags: ['b'], read: '2026-03-01', rating: 4.5 }]))
  const file = join(folder, 'tickwarden.yaml')
  await writeFile(file, databases)
  const { app } = await buildTestApp({
    file,
    scripts: { Server: exampleServer, silent: silentServer, down: { status: new SourceError('refused', 'down: refused') } },
    env: { TRUST_PROXY: 'loopback', METRICS_LISTEN: '127.0.0.1:9150', METRICS_TOKEN: 'x', DATA_DIR: folder, RUN_TOKEN: 'x' },
  })
  const document = (await app.inject('/openapi.json')).json() as OpenApi
  const routes = Object.entries(document.paths).filter(([path]) => !path.endsWith('/events'))
  const pages = ['/', '/servers/Server', '/page/servers/Server', '/page/cards', '/metrics', '/probe', '/sd', '/readyz']
  const examples: readonly Request[] = [
    ...routes.map(([path, { get }]) => {
      const given = Object.fromEntries((get.parameters ?? []).map(({ name, in: place, example }) => [name, { place, example }]))
      const query = Object.entries(given).flatMap(([name, { place, example }]) => (place === 'query' ? [[name, example]] : []))
      const inPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        name === 'name' ? 'Server' : String(given[name]?.example),
      )
      return { path: inPath, query: Object.fromEntries(query), headers }
    }),
    ...pages.map((path) => ({ path, query: { servers: 'Server', target: 'Server', range: '24h', debug: 'true' }, headers })),
  ]
  const property = fc.asyncProperty(changed(examples), async (input) => {
    // Changes of the outermost record may remove its parts.
    const { path = '/', query = {}, headers: changedHeaders = {} } = input as Partial<Request>
    const search = new URLSearchParams(
      Object.entries(query ?? {}).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : String(JSON.stringify(value)),
      ]),
    )
    // As text, so that mistakes in the encoding stay.
    const place = String(JSON.stringify(path))
      .replace(/^"|"$/g, '')
      .replaceAll(/[^\x21-\x7e]/g, encodeURI('é'))
    const url = `/${place.replace(/^\/+/, '')}${place.includes('?') ? '&' : '?'}${search}`
    // inject() cannot send others; test/http/hostile-heads.test.ts sends them.
    if (!URL.canParse(url, 'http://a.test')) return
    const heads = Object.entries(changedHeaders ?? {}).flatMap(([name, value]) =>
      /^[\w-]+$/.test(name) ? [[name.toLowerCase(), inHeader(value)]] : [],
    )
    for (const one of [app, app.metricsApp]) {
      const reply = await one?.inject({ url, headers: Object.fromEntries(heads) })
      if (reply === undefined) continue
      const problem = `${reply.statusCode} ${url} ${reply.body.slice(0, 300)}`
      if (reply.statusCode >= 500 && reply.statusCode !== 503) throw new Error(problem)
      const isPlainJson =
        String(reply.headers['content-type']).includes('json') && reply.headers['content-encoding'] === undefined
      if (isPlainJson && reply.statusCode !== 304) JSON.parse(reply.body)
    }
  })
  await fc.assert(property, { seed, numRuns })
  expect((await app.inject('/api/v1/servers')).statusCode).toBe(200)
})

it(`no status of a server breaks a page, a picture or the metrics (FUZZ_SEED=${seed})`, async () => {
  const { app, fleet, clock } = await buildTestApp({ scripts: { Server: exampleServer } })
  const document = (await app.inject('/openapi.json')).json() as OpenApi
  const paths = Object.keys(document.paths).filter((path) => /^\/api\/v1(?!.*\/events$)/.test(path))
  const urls = [...paths, '/', '/servers/{name}', '/page/servers/{name}', '/page/cards?servers={name}', '/metrics'].map((path) =>
    path.replaceAll('{name}', 'Server'),
  )
  const property = fc.asyncProperty(changed([JSON.stringify(status)]), async (text) => {
    try {
      fleet.scripts.Server = { status: parseStatusReply(String(text)) }
    } catch (error) {
      // Only replies that can be read reach a page.
      if (error instanceof ProtocolError) return
      throw error
    }
    clock.advance(5_000)
    await fleet.pollAll()
    for (const url of urls) {
      const { statusCode, body } = await app.inject({ url })
      // 400: a parameter is missing; 404: the value is unknown.
      if (![200, 400, 404].includes(statusCode)) throw new Error(`${statusCode} ${url} ${body.slice(0, 300)}`)
    }
  })
  await fc.assert(property, { seed, numRuns: Math.ceil(numRuns / 50) })
  expect((await app.inject('/')).statusCode).toBe(200)
})
