import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { type Service, serve } from '../../src/commands/serve.ts'
import { loadConfig } from '../../src/config/config.ts'
import { freePort } from '../helpers/run-tool.ts'

const silent = pino({ level: 'silent' })
let service: Service | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

describe('METRICS_LISTEN', () => {
  it('moves the metrics to a separate address', async () => {
    const port = await freePort()
    service = await serve(loadConfig({ env: { PORT: '0', METRICS_LISTEN: `127.0.0.1:${port}` } }), silent)
    await fetch(`${service.url}/v1/ping`)
    for (const path of ['/metrics', '/sd', '/probe?target=demo']) {
      const elsewhere = await fetch(service.url + path)
      expect(elsewhere.status).toBe(404)
      expect(await elsewhere.json()).toMatchObject({
        detail: expect.stringMatching(/^There is nothing at \/\w+; it is served on the address in METRICS_LISTEN\.$/),
      })
      expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200)
    }
    const ping = await fetch(`http://127.0.0.1:${port}/v1/ping`)
    expect(ping.status).toBe(404)
    expect(ping.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
    expect(await ping.json()).toMatchObject({
      code: 'NOT_FOUND',
      instance: '/v1/ping',
      detail: expect.stringMatching(
        /\/v1\/ping; .* serves \/metrics, \/probe, \/sd, \/healthz, \/readyz; everything else is served on HOST and PORT\.$/,
      ),
    })
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/v1/ping",status_class="2xx"} 1\n')
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/sd",status_class="2xx"} 1\n')
    expect(text).toMatch(/tickwarden_snapshot_entries\{database="projects"\} \d+/)
  })

  it('fails the start if the address is in use', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    const config = loadConfig({ env: { PORT: '0', METRICS_LISTEN: `127.0.0.1:${port}` } })
    await expect(serve(config, silent)).rejects.toThrow(
      `127.0.0.1:${port} is already in use by another program. Stop that program, or choose another port: METRICS_LISTEN=127.0.0.1:${port + 1}`,
    )
    await new Promise((resolve) => taken.close(resolve))
  })

  it('fails the start if this machine has no such address', async () => {
    const config = loadConfig({ env: { PORT: '0', METRICS_LISTEN: '192.0.2.1:9150' } })
    await expect(serve(config, silent)).rejects.toThrow(
      '192.0.2.1 is not an address of this machine. Set the host of METRICS_LISTEN to one of its addresses, or to 0.0.0.0 for all.',
    )
  })

  it('is not needed', async () => {
    service = await serve(loadConfig({ env: { PORT: '0' } }), silent)
    expect((await fetch(`${service.url}/metrics`)).status).toBe(200)
  })
})
