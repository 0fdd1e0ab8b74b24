import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { openEvents } from '../helpers/event-client.ts'
import { exampleServer } from '../helpers/example-server.ts'
import type { Script } from '../helpers/fake-fleet.ts'
import { buildTestApp } from '../helpers/test-app.ts'
import { until } from '../helpers/until.ts'

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

const player = { name: 'Secretive', id: '29a8c5e0-45a6-3f75-83d5-b3c462475dcf' }
const full: Script = {
  status: {
    edition: 'java',
    version: '1.21.11',
    motd: 'Hello there',
    formattedMotd: '§6Hello §#12ab34there',
    playersOnline: 1,
    playersMax: 20,
    players: { players: [player], complete: true },
    latency: 0.012,
  },
  rcon: { tickRate: 12.5, tickDurationMean: 0.08, tickRateTarget: 20 },
}
const text = async (response: Promise<Response>) => (await response).text()

function dataOf(html: string) {
  const [, json = ''] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html) ?? []
  return JSON.parse(json)
}

describe('/', () => {
  it('is the page for a browser, and for any other Accept header', async () => {
    const { get } = await buildTestApp({ scripts: { Server: exampleServer } })
    for (const headers of [browser, { accept: '*/*' }, {}, { accept: 'image/png' }] as Record<string, string>[]) {
      const response = await get('/', headers)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  it('is the list of entry points for a client that prefers JSON', async () => {
    const { get } = await buildTestApp({ scripts: { Server: exampleServer } })
    const response = await get('/', { accept: 'application/json' })
    expect(await response.json()).toEqual({
      page: '/',
      docs: '/docs',
      openapi: '/openapi.json',
      metrics: '/metrics',
      servers: '/api/v1/servers',
      events: '/api/v1/events',
    })
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'cache-control': 'no-cache', vary: 'Accept' })
    const etag = response.headers.get('etag') ?? ''
    expect((await get('/', { accept: 'application/json', 'if-none-match': etag })).status).toBe(304)
    expect((await get('/', { accept: 'text/html', 'if-none-match': etag })).status).toBe(200)
  })

  it.each([
    ['192.0.2.1:9999', '192.0.2.1:9999'],
    ['[2001:db8::1]:9999', '[2001:db8::1]:9999'],
    ['0.0.0.0:9999', 'status.example.org:9999'],
    ['[::]:9999', 'status.example.org:9999'],
  ])('shows how to scrape the metrics on METRICS_LISTEN=%s', async (METRICS_LISTEN, target) => {
    const scripts = { Server: exampleServer }
    const forwarded = { 'x-forwarded-host': 'status.example.org', 'x-forwarded-proto': 'https', 'x-forwarded-prefix': '/mc' }
    const page = async (env: Record<string, string>) =>
      text((await buildTestApp({ scripts, env: { TRUST_PROXY: 'loopback', ...env } })).get('/servers/Server', forwarded))
    const snippet = (html: string) => /- job_name[^<]*/.exec(html)?.[0].replaceAll('&quot;', '"').split(/\n +/)
    expect(snippet(await page({ METRICS_LISTEN }))).toEqual([
      ...['- job_name: tickwarden', 'scheme: http', 'metrics_path: /metrics', 'static_configs:', `- targets: ["${target}"]`],
    ])
    expect(snippet(await page({}))?.slice(1)).toEqual([
      ...['scheme: https', 'metrics_path: /mc/metrics', 'static_configs:', '- targets: ["status.example.org"]'],
    ])
    expect(await page({ METRICS_LISTEN, PAGE_PUBLIC: 'false' })).not.toContain('9999')
  })

  it('does not link the metrics if another address serves them', async () => {
    const { get } = await buildTestApp({ scripts: { Server: exampleServer }, env: { METRICS_LISTEN: '127.0.0.1:9999' } })
    expect(await (await get('/', { accept: 'application/json' })).json()).toMatchObject({ metrics: null })
  })

  it('has the values of each server in HTML, with the reason of a problem', async () => {
    const { get } = await buildTestApp({
      scripts: { survival: full, dead: { status: new SourceError('refused', 'dead.test:25565: connection refused') } },
    })
    const html = await text(get('/', browser))
    expect(html).toContain('<title>(1) Tickwarden</title>')
    expect(html).toMatch(/survival.*12\.5 of 20 ticks per second/s)
    expect(html).toMatch(/dead.*connection refused/s)
    expect(await text(get('/servers/survival', browser))).toContain('<span class="c6">Hello </span>')
    const [survival, dead] = dataOf(html).servers
    expect(survival).toMatchObject({ name: 'survival', state: { up: true, online: 1, tickRate: 12.5, tickTimeMean: 80 } })
    expect(dead).toMatchObject({ state: { up: false, online: null }, error: 'refused' })
  })

  it('allows no scripts and resources of others', async () => {
    const { get } = await buildTestApp({ scripts: { Server: exampleServer } })
    for (const path of ['/', '/servers/Server']) {
      const response = await get(path, browser)
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/unsafe|data:|\*|http/)
      const html = await response.text()
      expect(html).not.toMatch(/ style=| on\w+=|<style|<script>|src="(https?:)?\/\//)
    }
  })

  it('uses URLs that work behind any path of a reverse proxy', async () => {
    const { get } = await buildTestApp({ scripts: { Server: exampleServer } })
    for (const [path, root] of [
      ['/', ''],
      ['/servers/Server', '../'],
      ['/servers/Server/', '../../'],
    ] as const) {
      const html = await text(get(path, browser))
      const urls = [...html.matchAll(/ (?:href|src)="([^"#]*)"/g)].map(([, url = '']) => url)
      expect(urls.length).toBeGreaterThan(4)
      expect(urls.filter((url) => !url.startsWith(root) || url.startsWith('/'))).toEqual([])
      expect(urls).toContain(`${root}page/manifest.webmanifest`)
    }
  })

  it('does not show all as well while states are unknown', async () => {
    const { get } = await buildTestApp({ scripts: { Server: exampleServer, other: exampleServer }, polled: false })
    const html = await text(get('/', browser))
    expect(html).toContain('<h1>2 servers unknown</h1>')
    expect(html).not.toContain('No server needs attention')
    expect(html).toContain('not polled yet')
  })

  it('does not show a server as never polled once its values are stale', async () => {
    const { get, clock } = await buildTestApp({ scripts: { Server: exampleServer } })
    await clock.advance(60_000)
    const html = await text(get('/', browser))
    expect(html).toContain('no recent poll')
    expect(html).not.toContain('not polled yet')
  })

  it('has no server', async () => {
    const { get } = await buildTestApp({ scripts: {} })
    const html = await text(get('/', browser))
    expect(html).toMatch(/<p id="empty" class="empty">No server is watched\./)
    expect(html).toContain('<h1>No servers</h1>')
    expect((await get('/servers/none', browser)).status).toBe(404)
  })
})

describe('names and messages of others', () => {
  const hostile = `"><img src=x onerror=alert(1)>\u202e</script>\u200b\u0007<!--${'\u0301'.repeat(50)}`
  const shown = '&quot;&gt;&lt;img src=x onerror=alert(1)&gt;'

  it('are escaped everywhere', async () => {
    const server: Script = {
      status: {
        ...full.status,
        motd: hostile,
        formattedMotd: `§c${hostile}`,
        version: hostile,
        software: hostile,
        players: { players: [{ name: hostile }], complete: true },
      },
    }
    const name = hostile.replaceAll('/', '|')
    const { get } = await buildTestApp({ scripts: { [name]: server }, env: { PAGE_TITLE: hostile, MC_GROUP: hostile } })
    for (const path of ['/', `/servers/${encodeURIComponent(name)}`]) {
      const html = await text(get(path, browser))
      expect(html).toContain(shown)
      const [markup = '', data = ''] = html.split('<script type="application/json"')
      expect(markup).not.toMatch(/<img src=x|<!--|[\u202e\u200b\u0007]|\u0301{9}/)
      expect(data.match(/<\/?script/g)).toEqual(['</script'])
      expect(data).not.toContain('<!--')
      expect(dataOf(html).at).toBeGreaterThan(0)
    }
    const manifest = await (await get('/page/manifest.webmanifest')).json()
    expect(manifest.name).not.toMatch(/[\u202e\u200b\u0007]/)
  })
})

describe('PAGE_PUBLIC=false', () => {
  it('has no addresses, player names and sources in anything that the page loads', async () => {
    const scripts = { survival: { ...full, query: new SourceError('timeout', 'survival.test:25565: no answer') } }
    const { get, app, url } = await buildTestApp({ scripts, env: { PAGE_PUBLIC: 'false' } })
    const client = await openEvents(`${url}/page/events`)
    onTestFinished(() => client.close())
    await until(() => client.text().includes('"online":1'))
    const bodies = [
      await text(get('/', browser)),
      await text(get('/servers/survival', browser)),
      await text(get('/page/servers/survival')),
      await text(get('/page/cards?servers=survival')),
      await text(get('/page/graph')),
      client.text(),
    ]
    for (const body of bodies) expect(body).not.toMatch(/Secretive|29a8c5e0|survival\.test|MC_RCON|timeout|api\/v1|Prometheus/)
    expect(app.hasRoute({ method: 'GET', url: '/page/events' })).toBe(true)
    const open = await buildTestApp({ scripts })
    expect(await text(open.get('/servers/survival', browser))).toMatch(/api\/v1.*Secretive.*survival\.test.*Prometheus/s)
  })
})

it('continues the events of all servers where its data ends', async () => {
  const { get, fleet, url } = await buildTestApp({ scripts: { a: { status: { playersOnline: 1 } }, b: full } })
  const { lastEventId } = dataOf(await text(get('/', browser)))
  fleet.scripts.a = { status: { playersOnline: 2 } }
  await fleet.pollAll()
  const client = await openEvents(`${url}/page/events`, { 'last-event-id': String(lastEventId) })
  onTestFinished(() => client.close())
  await until(() => client.events.length > 0)
  expect(client.events.map(({ event, data }) => [event, data.server, data.online])).toEqual([['change', 'a', 2]])
  const later = await openEvents(`${url}/page/events`, { 'last-event-id': '1' })
  onTestFinished(() => later.close())
  await until(() => later.events.length === 3)
  expect(later.events.map(({ event }) => event)).toEqual(['servers', 'snapshot', 'snapshot'])
})

it('sends the history of a row without its days', async () => {
  const { get } = await buildTestApp({ scripts: { a: full } })
  const daysOf = async (query: string) => {
    const { servers } = (await (await get(`/page/cards?servers=a${query}`)).json()) as { servers: { a: { days: unknown[] } } }
    return servers.a.days.length
  }
  expect([await daysOf(''), await daysOf('&days=0')]).toEqual([90, 0])
})

it('describes a server to chats that show a preview of a link', async () => {
  const status = { version: '1.21.11', playersOnline: 2, playersMax: 20, motd: '"><script>' }
  const { get } = await buildTestApp({ scripts: { 'a "b"': { status } } })
  const html = await text(get('/servers/a%20%22b%22', browser))
  const [, url = ''] = /<meta property="og:url" content="(http:\/\/[^/"]+)\/servers\/a%20%22b%22">/.exec(html) ?? []
  expect(html).toContain('<link rel="canonical" href="../servers/a%20%22b%22">')
  expect(html).toContain(`<meta property="og:image" content="${url}/api/v1/servers/a%20%22b%22/banner.png?width=1200">`)
  expect(html).toContain('<meta property="og:description" content="Up · 2 of 20 players · 1.21.11">')
  expect(await text(get('/', browser))).toContain('content="Servers up: 1 of 1, Players online: 2"')
  const hidden = await buildTestApp({ scripts: { a: { status } }, env: { PAGE_PUBLIC: 'false' } })
  expect(await text(hidden.get('/servers/a', browser))).not.toContain('og:image')
})

it('says to a browser that a server is not watched, and to others as a problem', async () => {
  const { get } = await buildTestApp({ scripts: { Server: exampleServer } })
  const page = await get('/servers/typo%3Cb%3E', browser)
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  const html = await page.text()
  expect(html).toMatch(/<h1>Server not found<\/h1>.*“typo&lt;b&gt;”.*is watched/s)
  expect(html).toContain('href="../"')
  const problem = await get('/servers/typo', { accept: '*/*' })
  expect([problem.status, problem.headers.get('content-type')]).toEqual([
    404,
    expect.stringContaining('application/problem+json'),
  ])
})

describe('/page', () => {
  it('serves its files compressed, cacheable forever, and with hashed names', async () => {
    const { get, app } = await buildTestApp({ scripts: { Server: exampleServer } })
    const html = await text(get('/', browser))
    const files = [...html.matchAll(/"(page\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(files.map((path) => path.replace(/-\w{8}\./, '.'))).toEqual([
      'page/assets/theme.js',
      'page/assets/page.css',
      'page/assets/page.js',
      'page/assets/plain.css',
    ])
    for (const file of files) {
      const plain = await app.inject({ url: `/${file}` })
      expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable')
      const br = await app.inject({ url: `/${file}`, headers: { 'accept-encoding': 'gzip, br' } })
      expect(br.headers['content-encoding']).toBe('br')
      expect(brotliDecompressSync(br.rawPayload)).toEqual(plain.rawPayload)
      const gz = await app.inject({ url: `/${file}`, headers: { 'accept-encoding': 'gzip, br;q=0' } })
      expect(gunzipSync(gz.rawPayload)).toEqual(plain.rawPayload)
    }
    expect((await get('/page/assets/none.js')).status).toBe(404)
  })

  it('weighs less than 90 KB in total for both views and their data', async () => {
    const { app } = await buildTestApp({ scripts: { Server: exampleServer } })
    const headers = { ...browser, 'accept-encoding': 'gzip' }
    const pages = await Promise.all(['/', '/servers/Server'].map((url) => app.inject({ url, headers })))
    const files = new Set(
      pages.flatMap(({ rawPayload }) =>
        [
          ...gunzipSync(rawPayload)
            .toString()
            .matchAll(/"[./]*(page\/(?:assets\/|icon|manifest)[^"]+)"/g),
        ].map(([, path]) => path),
      ),
    )
    const loaded = await Promise.all([...files].map((path) => app.inject({ url: `/${path}`, headers })))
    const bytes = [...pages, ...loaded].reduce((sum, { rawPayload }) => sum + rawPayload.length, 0)
    console.info(`the page weighs ${bytes} bytes with gzip`)
    expect(bytes).toBeLessThan(90_000)
  })

  it('has a manifest with icons that exist', async () => {
    const { get } = await buildTestApp({ scripts: { Server: exampleServer }, env: { PAGE_TITLE: 'My networks😀😀' } })
    const response = await get('/page/manifest.webmanifest')
    expect(response.headers.get('content-type')).toContain('application/manifest+json')
    const { name, short_name, icons } = await response.json()
    // The short one ends with a whole character.
    expect([name, short_name]).toEqual(['My networks😀😀', 'My networks😀'])
    for (const { src, type } of icons) {
      const icon = await get(`/page/${src}`)
      expect([icon.status, icon.headers.get('content-type')]).toEqual([200, type])
    }
  })

  it('returns the past of servers whose names contain commas', async () => {
    const { get } = await buildTestApp({ scripts: { 'a,b': full, c: full } })
    const names = ['a,b', 'c', 'none'].map(encodeURIComponent).join(',')
    const { servers } = (await (await get(`/page/cards?servers=${encodeURIComponent(names)}`)).json()) as {
      servers: Record<string, { days: object[]; parts: unknown[]; players: unknown[] }>
    }
    expect(Object.keys(servers)).toEqual(['a,b', 'c'])
    expect(servers.c?.days).toHaveLength(90)
    expect(servers.c?.parts).toHaveLength(48)
    expect(servers.c?.players).toHaveLength(72)
  })
})
