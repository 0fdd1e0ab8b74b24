import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { exampleServer } from '../helpers/example-server.ts'
import { buildTestApp, type TestAppOptions } from '../helpers/test-app.ts'

const scripts = { Server: exampleServer }

const metricsRoutes = ['/metrics', '/probe?target=Server', '/sd', '/healthz', '/readyz', '/nothing']
const mainRoutes = [
  ...[
    '/',
    '//',
    '/servers/Server',
    '/servers/Server/',
    '/servers/none',
    '/page/servers/Server',
    '/page/cards?servers=Server',
    '/page/graph',
  ],
  ...['/page/events', '/page/manifest.webmanifest', '/page/icon.svg', '/page/assets/none.js'],
  ...['/docs', '/docs/', '/docs/json', '/docs/static/index.html', '/docs/static/swagger-ui.css', '/openapi.json'],
  ...['/api/v1/getall', '/api/v1/servers', '/api/v1/servers/Server/servermetadata', '/api/v1/servers/none/motd'],
  ...['/api/v1/events', '/api/v1/favicon', '/api/v1/badge.svg', '/api/v1/banner.png'],
  ...['/api/v1/players/069a79f444e94726a5befca90e38aaf5/head.png', '/v1/ping', '/v1/debug/headers', '/v1/run'],
  ...['/v1/kcomebacks/filter/getall?limit=1&offset=1', '/v1/run/none', '/healthz', '/nothing', '/metrics'],
]

const long = 8000
/** Values that are no host, scheme or path, or only seem to be one. */
const values = [
  ...['', ' ', '\t', ',', 'a,b', 'a, b', 'a b', '[', ']', '[]', '[::1', '::1]', '[::1]:', '[::1]:99999', '::1', '[zz]'],
  ...['user:pass@host', '@', '\\', 'a\\b', '..', '/', '//', '//evil.example', '/..', '/a\\b', '?', '#', '%', '%zz', '%00'],
  ...[':', ':80', 'a:', 'a:b', 'a:-1', 'a:99999', 'bücher.example', '\u{1f600}', '\u202e', '\x01', '\x7f', '\x85', '<script>'],
  ...['"', "'", '{}', '|', '^', ')', 'xn--', 'xn--a', '999.999.999.999', 'a..b', '.', 'javascript', 'javascript:', 'file'],
  ...['HTTPS', '__proto__', 'a'.repeat(long), ','.repeat(long), '/'.repeat(long), '%'.repeat(long), '['.repeat(long)],
]
/** Of which each value is tried, and those that are tried with some. */
const names = ['host', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-prefix']
const otherNames = [
  'x-forwarded-port',
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'origin',
  'accept',
  'cookie',
  'if-none-match',
]

const withHost = (line: string): string => (line.startsWith('host:') ? line : `host: a\r\n${line}`)
const heads: readonly string[] = [
  ...['HTTP/1.0', 'HTTP/1.0\r\nhost:', 'HTTP/1.1', 'HTTP/1.1\r\nhost:', 'HTTP/1.1\r\nhost: a\r\nhost: b'],
  ...names.flatMap((name) => values.map((value) => `HTTP/1.1\r\n${withHost(`${name}: ${value}`)}`)),
  ...otherNames.flatMap((name) =>
    values.filter((_, index) => index % 6 === 0).map((value) => `HTTP/1.1\r\n${withHost(`${name}: ${value}`)}`),
  ),
  ...names.slice(1).flatMap((name) => [`HTTP/1.0\r\n${name}: a`, `HTTP/1.1\r\nhost: a\r\n${name}: [\r\n${name}: a`]),
]

interface Reply {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Sends raw bytes and reads until the connection is closed; of an event stream only the head. */
async function send(port: number, request: string): Promise<Reply> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(request)
  const chunks: Buffer[] = []
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer)
    if (/text\/event-stream[\s\S]*\r\n\r\n/.test(Buffer.concat(chunks).toString('latin1'))) break
  }
  const [head = '', ...body] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head, body: body.join('\r\n\r\n') }
}

async function build(options: Partial<TestAppOptions> = {}) {
  const { app, url } = await buildTestApp({ scripts, ...options })
  const metricsUrl = (await app.metricsApp?.listen({ host: '127.0.0.1', port: 0 })) ?? url
  const [main, metrics] = [url, metricsUrl].map((text) => Number(new URL(text).port)) as [number, number]
  return { main, metrics }
}

/** What is wrong with a reply; undefined if nothing is. */
function mistakeOf({ status, head, body }: Reply): string | undefined {
  if (!(status >= 200 && status < 500)) return `status ${status}`
  // A browser gets a page that says that the server is not watched.
  const isPage = status === 404 && body.includes('Server not found')
  if (status >= 400 && !isPage && !head.includes('application/problem+json')) return `${status} is no problem`
  const location = /\r\nlocation: ?(.*)/i.exec(head)?.[1]
  if (location !== undefined && !/^(\/|\.)(?!\/)/.test(location)) return `redirects to ${location}`
  if (!head.includes('text/html')) return undefined
  for (const [, link = ''] of body.matchAll(/\b(\w+:\/\/[^\s"&]*)/g))
    if (!/^https?:\/\/(\w[\w.-]*|\[::1\])(:\d+)?\//.test(link) && !link.includes('www.w3.org')) return `has the link ${link}`
  return undefined
}

/** Of these routes each head is tried, of the others one in eight, unless the test is long: they read the head with the same code. */
const wholeRoutes = ['/', '/servers/Server', '/nothing', '/probe?target=Server']
const isWhole = (route: string): boolean => process.env.LONG_TESTS === '1' || wholeRoutes.includes(route)

it('a malformed head never causes an internal error', async () => {
  const env = { TRUST_PROXY: 'loopback', BASE_PATH: '/mc', METRICS_LISTEN: '127.0.0.1:9150' }
  const { main, metrics } = await build({ env })
  const targets = [
    ...mainRoutes.map((route) => [main, route] as const),
    ...metricsRoutes.map((route) => [metrics, route] as const),
  ]
  const mistakes: string[] = []
  for (const [index, [port, route]] of targets.entries()) {
    const tryHead = async (head: string) => {
      const request = `GET ${route} ${head}\r\naccept: text/html\r\nconnection: close\r\n\r\n`
      const mistake = mistakeOf(await send(port, request))
      if (mistake !== undefined) mistakes.push(`${route} ${JSON.stringify(head.slice(0, 80))}: ${mistake}`)
    }
    const tried = isWhole(route) ? heads : heads.filter((_, at) => at % 8 === index % 8)
    for (let at = 0; at < tried.length; at += 32) await Promise.all(tried.slice(at, at + 32).map(tryHead))
  }
  expect(mistakes).toEqual([])
})

describe('a request target that is not a path', () => {
  it.each([{}, { BASE_PATH: '/mc' }])('is a problem on every listener, with %o', async (env) => {
    const { main, metrics } = await build({ env: { METRICS_LISTEN: '127.0.0.1:9150', ...env } })
    for (const target of ['*', '*?a', '*/x', 'ftp://a/', 'http:///', 'http://'])
      for (const port of [main, metrics])
        for (const method of ['GET', 'HEAD', 'POST']) {
          const reply = await send(port, `${method} ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
          expect([target, method, reply.status]).toEqual([target, method, 400])
          expect(reply.head).toContain('application/problem+json')
          if (method === 'GET') expect(JSON.parse(reply.body)).toMatchObject({ status: 400, code: 'MALFORMED_REQUEST' })
        }
  })

  it('may be a whole URL, whose host replaces the header', async () => {
    const { main } = await build({ env: { BASE_PATH: '/mc' } })
    const get = (target: string) =>
      send(main, `GET ${target} HTTP/1.1\r\nhost: a\r\naccept: text/html\r\nconnection: close\r\n\r\n`)
    expect((await get('http://b.example/mc/api/v1/servermetadata')).body).toContain('/mc/api/v1/favicon')
    expect((await get('HTTP://b.example:81/mc/servers/Server')).body).toContain('http://b.example:81/mc/api/v1/')
    for (const target of ['http://b.example', 'http://b.example?a=1', 'http://b.example/mc/'])
      expect((await get(target)).body).toContain('href="page/')
    for (const target of ['http://user:pass@b.example/', 'http://[/', 'http://a b/'])
      expect([target, (await get(target)).status]).toEqual([target, target.includes('[') ? 200 : 400])
  })
})

it('a page has absolute links only if the host is known', async () => {
  const { main } = await build({ env: { TRUST_PROXY: 'loopback' } })
  const page = async (head: string) => (await send(main, `GET /servers/Server ${head}\r\nconnection: close\r\n\r\n`)).body
  expect(await page('HTTP/1.1\r\nhost: [::1]:81')).toContain('http://[::1]:81/api/v1/')
  const forwarded = 'x-forwarded-host: b.example\r\nx-forwarded-proto: https\r\nx-forwarded-prefix: /mc'
  expect(await page(`HTTP/1.1\r\nhost: a\r\n${forwarded}`)).toContain('https://b.example/mc/api/v1/')
  for (const head of ['HTTP/1.0', 'HTTP/1.1\r\nhost: [', 'HTTP/1.1\r\nhost: a\r\nx-forwarded-proto: javascript']) {
    const html = await page(head)
    expect(html).toContain('</html>')
    expect(html).not.toContain('/badge.svg')
  }
})

it('the links of a page do not depend on the path of another request', async () => {
  const { main } = await build({ env: { BASE_PATH: '/mc' } })
  const get = (path: string) => send(main, `GET ${path} HTTP/1.1\r\nhost: a\r\naccept: text/html\r\nconnection: close\r\n\r\n`)
  for (const path of ['/mc//', '//', '/mc/?//', 'http://a/mc//', 'http://a', '/mc/', '/']) {
    const reply = await get(path)
    if (path.endsWith('//') && !path.includes('?')) expect(reply.head).toContain('location: /mc/\r\n')
    else expect(reply.body).toContain('href="page/')
    for (const next of ['/mc/', '/']) expect((await get(next)).body).not.toContain('"../')
  }
  expect((await get('/mc/servers/Server/')).body).toContain('href="../../page/')
  expect((await get('/mc/servers/Server')).body).toContain('href="../page/')
})
