import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../../src/config/config.ts'
import { openWiki } from '../../../../src/data/scripts/kcomebacks/wiki.ts'
import { noProgress, type ScriptSettings, scriptSettings } from '../../../../src/data/scripts/script.ts'
import { UpstreamError } from '../../../../src/data/scripts/upstream-error.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { version } from '../../../../src/util/package.ts'

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

const credentials = { REDDIT_CLIENT_ID: 'id', REDDIT_CLIENT_SECRET: 'secret' }
const json = { 'content-type': 'application/json' }
const answer =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, { ...json, ...headers }).end(typeof body === 'string' ? body : JSON.stringify(body))

const page = 'upcoming-releases/2024/march'
const publicPath = `/r/kpop/wiki/${page}.json?raw_json=1`
const path = `/r/kpop/wiki/${page}?raw_json=1`
const tokenPath = '/api/v1/access_token'
const found = { data: { content_md: 'text' } }

let answers: Map<string, Answer>
let otherwise: Answer
let requests: { method: string | undefined; url: string; headers: IncomingMessage['headers']; body: string; port: number }[]
let servers: ReturnType<typeof createServer>[]
let urls: [site: string, api: string]
let waits: [string, number][]

beforeEach(async () => {
  ;[answers, otherwise, requests, waits] = [new Map(), answer(404), [], []]
  answers.set(tokenPath, answer(200, { access_token: 'the-token' }))
  servers = [0, 1].map((index) =>
    createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { method, url = '', headers } = request
        const body = String(Buffer.concat(chunks))
        requests.push({ method, url, headers, body, port: index })
        const reply = answers.get(url) ?? otherwise
        reply(request, response, body)
      })
    }),
  )
  await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))))
  urls = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`) as typeof urls
})
afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

const openWith = (values: ScriptSettings) =>
  openWiki({
    values,
    signal: new AbortController().signal,
    log: silentLog,
    // Pauses are over at once.
    clock: { ...systemClock, after: (delay, action) => systemClock.after(Math.min(delay, 1), action) },
    progress: { ...noProgress, wait: (name, milliseconds) => void waits.push([name, milliseconds]) },
  })
const open = (env: Record<string, string> = {}) =>
  openWith(scriptSettings(loadConfig({ env: { REDDIT_AUTH_URL: urls[0], REDDIT_API_URL: urls[1], ...env } })))
const read = (env?: Record<string, string>) => open(env).read(page)
const errorOf = (env?: Record<string, string>): Promise<UpstreamError> =>
  read(env).then(
    () => expect.fail('it did not fail'),
    (error: UpstreamError) => {
      expect(error).toBeInstanceOf(UpstreamError)
      return error
    },
  )
const urlsOf = () => requests.map(({ url }) => url)

const past = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1600000000' }
const later = { 'x-ratelimit-remaining': '0.0', 'x-ratelimit-reset': '3600' }

describe('a rate limit', () => {
  it.each([
    ['without credentials, its reset in the past', {}, past],
    ['without credentials', {}, later],
    ['with credentials, its reset in the past', credentials, past],
    ['with credentials', credentials, later],
  ])('may be a 403 of Reddit, %s', async (_what, env, headers) => {
    answers.clear()
    otherwise = answer(403, {}, headers)
    const error = await errorOf(env)
    expect(error).toMatchObject({ kind: 'rate_limited', status: 403, retryAt: expect.any(Number) })
    expect(error.message).toContain('the rate limit is exceeded')
    expect(error.message).not.toContain('CLIENT_ID')
  })

  it('is waited for, which is shown', async () => {
    answers.set(publicPath, (request, response, body) => {
      answers.set(publicPath, answer(200, found))
      answer(429, {}, { 'retry-after': '0.05' })(request, response, body)
    })
    expect(await read()).toMatchObject({ markdown: 'text' })
    expect(waits[0]?.[0]).toBe('Reddit')
  })
})

describe('a page', () => {
  it('is read publicly without credentials', async () => {
    answers.set(publicPath, answer(200, { data: { content_md: 'a & b', revision_id: 'r' } }))
    expect(await read()).toEqual({ markdown: 'a & b', revision: 'r' })
    expect(requests).toMatchObject([{ method: 'GET', url: publicPath, port: 0 }])
    expect(requests[0]?.headers['user-agent']).toBe(`nodejs:tickwarden:v${version} (reads the r/kpop wiki)`)
    expect(requests[0]?.headers).not.toHaveProperty('authorization')
  })

  it.each([[{ redditClientId: 'id' }], [{ redditClientSecret: 'secret' }]])('is read publicly with only %j', async (half) => {
    answers.set(publicPath, answer(200, found))
    const config = loadConfig({ env: { REDDIT_AUTH_URL: urls[0], REDDIT_API_URL: urls[1] } })
    expect(await openWith({ ...scriptSettings(config), ...half }).read(page)).toMatchObject({ markdown: 'text' })
    expect(urlsOf()).toEqual([publicPath])
  })

  it('is read through the API with credentials, with one token for several pages', async () => {
    answers.set(path, answer(200, found))
    const wiki = open(credentials)
    await wiki.read(page)
    expect(await wiki.read(page)).toEqual({ markdown: 'text', revision: undefined })
    expect(requests).toMatchObject([
      { method: 'POST', url: tokenPath, port: 0, body: 'grant_type=client_credentials' },
      { method: 'GET', url: path, port: 1, headers: { authorization: 'Bearer the-token' } },
      { method: 'GET', url: path, port: 1, headers: { authorization: 'Bearer the-token' } },
    ])
    expect(requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('id:secret').toString('base64')}`)
    const agents = new Set(requests.map(({ headers }) => headers['user-agent']))
    expect([...agents]).toEqual([`nodejs:tickwarden:v${version} (reads the r/kpop wiki)`])
  })

  it('gets a new token if the first one is rejected', async () => {
    answers.set(path, (request, response, body) => {
      answers.set(path, answer(200, found))
      answers.set(tokenPath, answer(200, { access_token: 7 }))
      answer(401)(request, response, body)
    })
    expect(await read(credentials)).toMatchObject({ markdown: 'text' })
    expect(requests.at(-1)?.headers.authorization).toBe('Bearer 7')
  })

  it('is requested once, with one token, if the API does not have it', async () => {
    expect(await errorOf(credentials)).toMatchObject({ kind: 'status', status: 404 })
    expect(urlsOf()).toEqual([tokenPath, path])
  })

  it.each([
    [{ revision_id: 'r', revision_date: 5 }, 'r'],
    [{ revision_id: 4, revision_date: 5 }, '4'],
    [{ revision_date: 5.5 }, '5.5'],
    [{ revision_id: null, revision_date: 'd' }, 'd'],
    [{ revision_id: {}, revision_date: [1] }, undefined],
    [{}, undefined],
  ])('with %j has the revision %j', async (data, revision) => {
    answers.set(publicPath, answer(200, { data: { content_md: '', ...data } }))
    expect(await read()).toEqual({ markdown: '', revision })
  })

  it.each([[null], [[]], [{}], [{ data: null }], [{ data: [] }], [{ data: {} }], [{ data: { content_md: 5 } }]])(
    'is not in the reply %j',
    async (body) => {
      answers.set(path, answer(200, JSON.stringify(body)))
      const error = await errorOf(credentials)
      expect([error.kind, error.message]).toEqual(['malformed', `Reddit: the reply for /wiki/${page} has no page`])
    },
  )

  it('may have 4 MiB', async () => {
    const content = 'x'.repeat(4 * 1024 * 1024 - 36)
    answers.set(publicPath, answer(200, { data: { content_md: content } }))
    expect(await read()).toMatchObject({ markdown: content })
    answers.set(publicPath, answer(200, { data: { content_md: `${content}${content}` } }))
    expect((await errorOf()).message).toBe(`Reddit: GET /r/kpop/wiki/${page}.json returned more than 4194304 bytes`)
  })
})

describe('a redirect', () => {
  it.each([['/login'], ['/r/other/wiki/x'], ['/r/kpop/wiki/x'], ['http://[']])('to %s is a refusal', async (location) => {
    answers.set(publicPath, answer(302, '', { location }))
    const error = await errorOf()
    expect(error.message).toMatch(/^Reddit does not show/)
    expect((error.cause as Error).message).toBe(`Reddit: GET /r/kpop/wiki/${page}.json answered 302`)
    expect(requests).toHaveLength(1)
  })
})

describe('without credentials', () => {
  it.each([
    ['a refusal', 401, '{}', true],
    ['a refusal', 403, '<html>', true],
    ['a redirect', 300, '', true],
    ['a redirect', 399, '', true],
    ['HTML', 200, '<html>', true],
    ['a missing page', 404, '{}', false],
    ['a conflict', 400, '{}', false],
    ['a page that is gone', 410, '{}', false],
    ['an outage', 500, '{}', false],
  ])('%s (%i) may need them', async (_what, status, body, needsThem) => {
    answers.set(publicPath, answer(status, body))
    const error = await errorOf()
    const refusal = `Reddit does not show /wiki/${page} without credentials: set REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET`
    expect(error.message).toBe(needsThem ? refusal : `Reddit: GET /r/kpop/wiki/${page}.json answered ${status}`)
    expect(error).toMatchObject({ kind: 'status', status: needsThem ? 403 : status })
    if (needsThem) expect((error.cause as Error).message).toContain(`Reddit: GET /r/kpop/wiki/${page}.json `)
  })

  it('a cut connection does not', async () => {
    answers.set(publicPath, (_request, response) => void response.destroy())
    expect(await errorOf()).toMatchObject({ kind: 'network', status: undefined })
  })
})

describe('with credentials', () => {
  it.each([[401], [403]])('a token that is refused with %i names the settings', async (status) => {
    answers.set(tokenPath, answer(status))
    const error = await errorOf(credentials)
    expect(error.message).toBe(`Reddit rejected REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET (${status})`)
    expect(error).toMatchObject({ kind: 'status', status })
    expect((error.cause as Error).message).toBe(`Reddit: POST ${tokenPath} answered ${status}`)
    expect(urlsOf()).toEqual([tokenPath])
  })

  it.each([[400], [404]])('a token that fails with %i does not', async (status) => {
    answers.set(tokenPath, answer(status))
    expect((await errorOf(credentials)).message).toBe(`Reddit: POST ${tokenPath} answered ${status}`)
  })

  it.each([
    [{}],
    [[]],
    [null],
    [{ access_token: '' }],
    [{ access_token: 'a b' }],
    [{ access_token: 'a\n' }],
    [{ access_token: '\u00e9' }],
    [{ access_token: null }],
  ])('the reply %j has no token', async (body) => {
    answers.set(tokenPath, answer(200, JSON.stringify(body)))
    const error = await errorOf(credentials)
    expect([error.kind, error.message]).toEqual(['malformed', 'Reddit: the reply of the token service has no token'])
    expect(requests).toHaveLength(1)
  })

  it.each([[403], [404]])('a page that answers %i fails with that', async (status) => {
    answers.set(path, answer(status))
    expect((await errorOf(credentials)).message).toBe(`Reddit: GET /r/kpop/wiki/${page} answered ${status}`)
  })
})
