import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../src/commands/serve.ts'
import { loadConfig } from '../../src/config.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { freePort } from '../helpers/run-tool.ts'
import { until } from '../helpers/until.ts'
import { readPage } from './markdown.ts'

it.skipIf(!hasTool('nginx'))(
  'nginx configured as on the page forwards pages and events, and nothing that is not public',
  async () => {
    const service = await serve(loadConfig({ env: { PORT: '0', POLL_INTERVAL: '500ms' } }), pino({ level: 'silent' }))
    onTestFinished(() => service.close())
    const port = await freePort()
    const [block] = readPage('docs/reverse-proxy.md').blocks.filter(({ language }) => language === 'nginx')
    const server = block!.text.replace('listen 80;', `listen 127.0.0.1:${port};`).replaceAll('http://127.0.0.1:8080', service.url)
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-nginx-'))
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join(' ')
    const file = join(folder, 'nginx.conf')
    writeFileSync(
      file,
      `daemon off; pid ${folder}/pid; error_log stderr;\nevents {}\nhttp { access_log off; ${paths}\n${server}\n}`,
    )
    const nginx = spawn('nginx', ['-p', folder, '-c', file], { stdio: 'ignore' })
    onTestFinished(async () => {
      nginx.kill()
      await once(nginx, 'exit')
    })
    const get = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init)
    const statusOf = async (path: string) => (await get(path).catch(() => undefined))?.status
    await until(async () => (await statusOf('/api/v1/getall')) === 200)
    for (const path of ['/', '/servers/demo', '/api/v1/servers', '/v1/ping', '/healthz'])
      expect([path, await statusOf(path)]).toEqual([path, 200])
    for (const path of ['/metrics', '/probe?target=demo', '/sd', '/v1/run', '/v1/run/projects', '/metrics/'])
      expect([path, await statusOf(path)]).toEqual([path, 403])

    const stop = new AbortController()
    const events = await get('/api/v1/events', { signal: stop.signal })
    let received = ''
    for await (const chunk of events.body!.pipeThrough(new TextDecoderStream())) {
      received += chunk
      if ((received.match(/^event: /gm) ?? []).length >= 2) break
    }
    stop.abort()
    expect(received).toMatch(/^event: snapshot$/m)
  },
)
