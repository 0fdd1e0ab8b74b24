import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, serve } from '../../src/commands/serve.ts'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { createProxyCheck } from '../../src/http/clients/trusted-proxies.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { freePort } from '../helpers/run-tool.ts'
import { until } from '../helpers/until.ts'

/** @param upstream replacement of nginx for `/mc/`, or nothing to forward the path unchanged */
const nginxConfig = (folder: string, port: number, service: string, upstream: string) => `
daemon off; pid ${folder}/pid; error_log stderr;
events {}
http {
  access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  server {
    listen 127.0.0.1:${port};
    location /mc/ { proxy_pass ${service}${upstream}; proxy_set_header Host $http_host; }
  }
}`

describe.skipIf(!hasTool('nginx'))('BASE_PATH behind nginx', () => {
  let service: Service
  const proxies: ChildProcess[] = []
  const roots = new Map<string, string>()

  beforeAll(async () => {
    service = await serve(
      loadConfig({ env: { PORT: '0', BASE_PATH: '/mc/', POLL_INTERVAL: '500ms' } }),
      pino({ level: 'silent' }),
    )
    for (const [name, upstream] of [
      ['removes', '/'],
      ['keeps', ''],
    ] as const) {
      const [folder, port] = [mkdtempSync(join(tmpdir(), 'nginx-')), await freePort()]
      writeFileSync(join(folder, 'nginx.conf'), nginxConfig(folder, port, service.url, upstream))
      proxies.push(spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' }))
      const root = `http://127.0.0.1:${port}`
      roots.set(name, root)
      await until(() =>
        fetch(`${root}/mc/v1/ping`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
    }
    await until(async () => (await fetch(`${service.url}/api/v1/getall`)).ok)
  })
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => [once(proxy, 'exit'), proxy.kill('SIGTERM')][0]))
    await service.close()
  })

  describe.each(['removes', 'keeps'])('that %s the prefix', (name) => {
    const get = (path: string, init?: RequestInit) => fetch(`${roots.get(name)}${path}`, { redirect: 'manual', ...init })
    const json = async (path: string): Promise<unknown> => (await get(path, { headers: { accept: 'application/json' } })).json()

    it('serves a page with working links, scripts and pictures', async () => {
      expect((await get('/mc')).headers.get('location')).toMatch(/\/mc\/$/)
      for (const path of ['/mc/', '/mc/servers/demo', '/mc/docs', '/mc/docs/']) {
        const reply = await get(path, { headers: { accept: 'text/html' } })
        expect(reply.status).toBe(200)
        const html = await reply.text()
        const links = [...html.matchAll(/\s(?:href|src)="([^"#]+)"/g)].map(([, link]) => new URL(link ?? '', reply.url))
        const own = [...new Set(links.filter(({ origin }) => origin === roots.get(name)).map(({ href }) => href))]
        expect(own.length).toBeGreaterThan(2)
        for (const href of own) {
          expect(new URL(href).pathname).toMatch(/^\/mc\//)
          expect([href, (await fetch(href)).status]).toEqual([href, 200])
        }
      }
    })

    it('names paths with the prefix in replies', async () => {
      expect(await json('/mc/api/v1/servermetadata')).toMatchObject({ FAVICON: '/mc/api/v1/favicon' })
      expect(await json('/mc/api/v1/servers/demo/getall')).toMatchObject({
        METADATA: { FAVICON: '/mc/api/v1/servers/demo/favicon' },
      })
      expect(await json('/mc/openapi.json')).toMatchObject({ servers: [{ url: '/mc' }] })
      expect(await json('/mc/')).toMatchObject({ page: '/mc/', docs: '/mc/docs', metrics: '/mc/metrics' })
      const page = await get('/mc/v1/kcomebacks/filter/artist?artist=a&limit=1&offset=0')
      const links = [...(page.headers.get('link') ?? '').matchAll(/<([^>]+)>/g)].map(([, link]) => link ?? '')
      expect(links.length).toBeGreaterThan(1)
      for (const link of links) expect([link, (await get(link)).status]).toEqual([expect.stringMatching(/^\/mc\/v1\//), 200])
      expect(await json('/mc/api/v1/nothing')).toMatchObject({
        instance: '/mc/api/v1/nothing',
        detail: expect.stringContaining('/mc/docs'),
      })
      for (const path of ['/mc/api/v1/servers/none/uptime', '/mc/servers/none', '/mc/api/v1/events?servers=none'])
        expect(await json(path)).toMatchObject({
          instance: path.split('?')[0],
          detail: expect.stringContaining(' /mc/api/v1/servers '),
        })
      expect(await json('/mc/api/v1/servers/nether/motd')).toMatchObject({
        detail: expect.stringContaining('; /mc/api/v1/servers lists'),
      })
      expect(await json('/mc/probe?target=mc.example.org')).toMatchObject({
        detail: expect.stringContaining('(/mc/sd lists them)'),
      })
      expect(await json('/mc/sd')).toHaveLength(1)
    })

    it('redirects below the prefix', async () => {
      for (const path of ['/mc/docs/json', '/mc/docs/static/index.html']) {
        const reply = await get(path)
        expect([path, reply.status]).toEqual([path, 302])
        const target = new URL(reply.headers.get('location') ?? '', roots.get(name))
        expect(target.pathname).toMatch(/^\/mc\//)
        expect((await fetch(target)).status).toBe(200)
      }
    })
  })

  it('answers without the prefix too, for a client that does not use the proxy', async () => {
    expect((await fetch(`${service.url}/metrics`)).status).toBe(200)
    expect((await fetch(`${service.url}/mcx/metrics`)).status).toBe(404)
  })
})

/** @param sent header that nginx sets, or nothing if it forwards the header of the client */
const prefixConfig = (folder: string, port: number, service: string, sent: string) =>
  nginxConfig(folder, port, service, '/').replace('proxy_set_header Host', `${sent} proxy_set_header Host`)

describe.skipIf(!hasTool('nginx'))('X-Forwarded-Prefix of nginx', () => {
  const services: Service[] = []
  const proxies: ChildProcess[] = []
  const start = async (env: Record<string, string>) => {
    const service = await serve(loadConfig({ env: { PORT: '0', POLL_INTERVAL: '500ms', ...env } }), pino({ level: 'silent' }))
    services.push(service)
    await until(async () => (await fetch(`${service.url}/api/v1/getall`)).ok)
    return service
  }
  /** @returns URL of an nginx whose `/mc/` is the service */
  const proxy = async (service: Service, sent = 'proxy_set_header X-Forwarded-Prefix /mc;') => {
    const [folder, port] = [mkdtempSync(join(tmpdir(), 'nginx-')), await freePort()]
    writeFileSync(join(folder, 'nginx.conf'), prefixConfig(folder, port, service.url, sent))
    proxies.push(spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' }))
    const root = `http://127.0.0.1:${port}`
    await until(() =>
      fetch(`${root}/mc/v1/ping`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    return root
  }
  const metadata = async (url: string, prefix?: string): Promise<unknown> => {
    const headers = prefix === undefined ? {} : { 'x-forwarded-prefix': prefix }
    return (await fetch(`${url}/api/v1/servermetadata`, { headers })).json()
  }
  afterAll(async () => {
    await Promise.all(proxies.map((one) => [once(one, 'exit'), one.kill('SIGTERM')][0]))
    await Promise.all(services.map((service) => service.close()))
  })

  it('is the base path of each request from a trusted proxy', async () => {
    const service = await start({ TRUST_PROXY: 'loopback' })
    const root = await proxy(service)
    const get = (path: string, accept = '*/*') => fetch(`${root}${path}`, { redirect: 'manual', headers: { accept } })
    for (const path of ['/mc/', '/mc/servers/demo', '/mc/docs', '/mc/docs/']) {
      const reply = await get(path, 'text/html')
      expect([path, reply.status]).toEqual([path, 200])
      const links = [...(await reply.text()).matchAll(/\s(?:href|src)="([^"#]+)"/g)].map(
        ([, link]) => new URL(link ?? '', reply.url),
      )
      const own = [...new Set(links.filter(({ origin }) => origin === root).map(({ href }) => href))]
      expect(own.length).toBeGreaterThan(2)
      for (const href of own) {
        expect(new URL(href).pathname).toMatch(/^\/mc\//)
        expect([href, (await fetch(href)).status]).toEqual([href, 200])
      }
    }
    const json = async (path: string): Promise<unknown> => (await get(path, 'application/json')).json()
    // Twice: the second one is the prepared reply.
    for (const _ of [1, 2]) {
      expect(await json('/mc/api/v1/servermetadata')).toMatchObject({ FAVICON: '/mc/api/v1/favicon' })
      expect(await json('/mc/api/v1/servers/demo/getall')).toMatchObject({
        METADATA: { FAVICON: '/mc/api/v1/servers/demo/favicon' },
      })
      expect(await metadata(service.url)).toMatchObject({ FAVICON: '/api/v1/favicon' })
      expect(await json('/mc/openapi.json')).toMatchObject({ servers: [{ url: '/mc' }] })
    }
    expect(await json('/mc/')).toMatchObject({ page: '/mc/', docs: '/mc/docs', metrics: '/mc/metrics' })
    expect(await json('/mc/api/v1/nothing')).toMatchObject({
      instance: '/mc/api/v1/nothing',
      detail: expect.stringContaining('/mc/docs'),
    })
    const link = (await get('/mc/v1/kcomebacks/filter/artist?artist=a&limit=1&offset=0')).headers.get('link')
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(link ?? '') ?? []
    expect(next).toMatch(/^\/mc\/v1\//)
    expect((await get(next)).status).toBe(200)
    expect((await get('/mc/docs/json')).headers.get('location')).toBe('/mc/openapi.json')
    // nginx has removed one prefix, so that a rule of it for /mc/metrics does not apply to these.
    for (const path of ['/mc/mc/metrics', '/mc/%6dc/metrics', '/mc/mc/', '/mc/mc', '/mc/mc/api/v1/getall'])
      expect([path, (await get(path)).status]).toEqual([path, 404])
  })

  it('is ignored without TRUST_PROXY, and from a client that is not a trusted proxy', async () => {
    const untrusting = await start({})
    expect(await metadata(`${await proxy(untrusting)}/mc`)).toMatchObject({ FAVICON: '/api/v1/favicon' })
    const elsewhere = await start({ TRUST_PROXY: '192.0.2.1,fd00::/8', BASE_PATH: '/own' })
    expect(await metadata(elsewhere.url, '/evil')).toMatchObject({ FAVICON: '/own/api/v1/favicon' })
  })

  it('replaces BASE_PATH only where it is a path', async () => {
    const service = await start({ TRUST_PROXY: '127.0.0.0/8', BASE_PATH: '/own' })
    const favicon = async (prefix: string) => ((await metadata(service.url, prefix)) as { FAVICON: string }).FAVICON
    expect(await favicon('/team/mc/')).toBe('/team/mc/api/v1/favicon')
    expect(await favicon('/')).toBe('/api/v1/favicon')
    const bad = [
      'mc',
      '//evil.example.org',
      '/a//b',
      '/a/../b',
      '/..',
      '/a b',
      '/a"b',
      '/a, /b',
      '/%2e%2e',
      `/${'a'.repeat(200)}`,
    ]
    for (const prefix of bad) expect([prefix, await favicon(prefix)]).toEqual([prefix, '/own/api/v1/favicon'])
  })

  it('may differ with each request', async () => {
    const service = await start({ TRUST_PROXY: 'loopback' })
    for (const round of [1, 2]) {
      for (let index = 0; index < 20; index++) {
        const prefix = `/p${index}`
        expect([round, await metadata(service.url, prefix)]).toMatchObject([round, { FAVICON: `${prefix}/api/v1/favicon` }])
      }
    }
  })
})

it.each(['local', 'true', '10.0.0.0/33', 'example.org', '1.2.3', '10/8', '0x7f.1/8', '01.2.3.4/8', 'toString', '10.0.0.0/8/8'])(
  'TRUST_PROXY %j is refused',
  (given) => {
    expect(() => loadConfig({ env: { TRUST_PROXY: given } })).toThrow(ConfigError)
    if (given.includes('/')) expect(() => loadConfig({ env: { PROBE_ALLOW: given } })).toThrow(ConfigError)
  },
)

it.each(['loopback, 10.0.0.0/08', 'fe80::1%eth0/64, fe80::1%1', '::ffff:1.2.3.4/120, ::/0', '::1.2.3.4'])(
  'TRUST_PROXY %j is accepted',
  (given) => {
    expect(() => createProxyCheck(loadConfig({ env: { TRUST_PROXY: given } }).http.trustProxy)('127.0.0.1')).not.toThrow()
  },
)

it.each(['mc', '/a b', '/mc//x', '/../mc', '//evil.example.org'])('BASE_PATH %j is refused', (given) => {
  expect(() => loadConfig({ env: { BASE_PATH: given } })).toThrow(ConfigError)
})
