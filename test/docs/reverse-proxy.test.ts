import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serve } from '../../src/commands/serve.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createAuthority } from '../helpers/certificate-authority.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { freePort } from '../helpers/run-tool.ts'
import { until } from '../helpers/until.ts'
import { readPage } from './markdown.ts'

const blocks = readPage('docs/reverse-proxy.md').blocks.flatMap(({ language, text }) => (language === 'nginx' ? [text] : []))
const [whole = '', tls = '', hidden = '', underPath = '', withPrefix = ''] = blocks

/** Starts nginx in front of a service. @param server the server block of its configuration */
async function startNginx(server: string, env: Readonly<Record<string, string>> = {}) {
  const service = await serve(loadConfig({ env: { PORT: '0', POLL_INTERVAL: '500ms', ...env } }), pino({ level: 'silent' }))
  onTestFinished(() => service.close())
  await until(async () => (await fetch(`${service.url}/api/v1/getall`)).ok)
  const port = await freePort()
  const configuration = server
    .replace(/listen (?:80|443)( ssl)?;/, `listen 127.0.0.1:${port}$1;`)
    .replaceAll('http://127.0.0.1:8080', service.url)
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-nginx-'))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ')
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; pid ${folder}/pid; error_log stderr;\nevents {}\nhttp { access_log off; ${paths}\n${configuration}\n}`,
  )
  const nginx = spawn('nginx', ['-p', folder, '-c', file], { stdio: 'ignore' })
  onTestFinished(async () => {
    nginx.kill()
    await once(nginx, 'exit')
  })
  const get = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init)
  /** Of the path as it is: fetch() would resolve dots. */
  const statusOf = (path: string) =>
    new Promise<number | undefined>((resolve) => {
      request({ host: '127.0.0.1', port, path }, (response) => resolve(response.resume().statusCode))
        .once('error', () => resolve(undefined))
        .end()
    })
  await until(async () => (await statusOf('/healthz')) !== undefined)
  return { get, statusOf, port }
}

const isRefusal = (status: unknown) => status === 400 || status === 403 || status === 404
/** A path, and other ways to write it. */
const formsOf = (path: string) => [
  path,
  `${path}/`,
  `/${path}`,
  `/x/..${path}`,
  path.replace(/[a-z](?=[^/]*$)/, '%61'),
  `/.${path}`,
]
const closed = ['/metrics', '/probe', '/sd', '/v1/run', '/v1/run/projects']
const api = ['/api/v1/servers', '/api/v1/getall', '/api/v1/servers/demo/favicon', '/api/v1/events', '/api/v1/chart.png']

describe.skipIf(!hasTool('nginx'))('nginx configured as on the page', () => {
  it('forwards pages and events, and nothing that is not public', async () => {
    const { get, statusOf } = await startNginx(whole)
    for (const path of ['/', '/servers/demo', '/api/v1/servers', '/v1/ping', '/healthz'])
      expect([path, await statusOf(path)]).toEqual([path, 200])
    for (const path of closed.flatMap(formsOf)) expect([path, await statusOf(path)]).toEqual([path, expect.toSatisfy(isRefusal)])
    for (const path of closed) expect([path, await statusOf(path)]).toEqual([path, 403])

    const stop = new AbortController()
    const events = await get('/api/v1/events', { signal: stop.signal })
    let received = ''
    for await (const chunk of events.body!.pipeThrough(new TextDecoderStream())) {
      received += chunk
      if ((received.match(/^event: /gm) ?? []).length >= 2) break
    }
    stop.abort()
    expect(received).toMatch(/^event: snapshot$/m)
  })

  it.skipIf(!hasTool('openssl'))('forwards over TLS, with links that begin with https', async () => {
    const ca = createAuthority(mkdtempSync(join(tmpdir(), 'tickwarden-nginx-tls-')))
    const { certFile, keyFile } = ca.sign('localhost')
    const server = tls.replace(/(?<=certificate )\S+(?=;)/, certFile).replace(/(?<=_key )\S+(?=;)/, keyFile)
    const { port } = await startNginx(whole.replace('listen 80;', server), { TRUST_PROXY: 'loopback' })
    const [response] = await once(
      get({ host: 'localhost', port, path: '/incidents.atom', ca: readFileSync(ca.certFile), family: 4 }),
      'response',
    )
    expect(await text(response)).toContain(`href="https://localhost:${port}/"`)
  })

  it('forwards the page without the API', async () => {
    const { get, statusOf } = await startNginx(whole.replace(/ {4}location ~ .*?\n {4}\}\n/s, `${hidden}\n`), {
      PAGE_PUBLIC: 'false',
    })
    for (const path of ['/', '/servers/demo', '/page/servers/demo', '/page/icon.svg', '/v1/ping'])
      expect([path, await statusOf(path)]).toEqual([path, 200])
    for (const path of [...closed, ...api].flatMap(formsOf))
      expect([path, await statusOf(path)]).toEqual([path, expect.toSatisfy(isRefusal)])
    for (const path of api) expect([path, await statusOf(path)]).toEqual([path, 403])
    for (const path of ['/', '/servers/demo'])
      expect(await (await get(path, { headers: { accept: 'text/html' } })).text()).not.toContain('api/v1')
  })

  it.each([
    [underPath, { BASE_PATH: '/mc', TRUST_PROXY: 'loopback' }],
    [underPath.replace('8080;', '8080/;'), { BASE_PATH: '/mc', TRUST_PROXY: 'loopback' }],
    [withPrefix, { TRUST_PROXY: 'loopback' }],
  ])('forwards nothing that is not public under a path either (%#)', async (location, env) => {
    const { statusOf } = await startNginx(`server { listen 80;\n${location}\n}`, env as Record<string, string>)
    for (const path of ['/mc/', '/mc/servers/demo', '/mc/api/v1/servers', '/mc/v1/ping'])
      expect([path, await statusOf(path)]).toEqual([path, 200])
    for (const path of closed.flatMap((path) => [...formsOf(path), `/mc${path}`]))
      expect([path, await statusOf(`/mc${path}`)]).toEqual([path, expect.toSatisfy(isRefusal)])
    for (const path of closed) expect([path, await statusOf(`/mc${path}`)]).toEqual([path, 403])
  })
})
