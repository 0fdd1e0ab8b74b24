import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { buildTestApp } from '../helpers/test-app.ts'

const scripts = () => ({
  survival: { status: { motd: 'Hi' } },
  down: { status: new SourceError('timeout', 'down.test: no answer') },
})

describe('/healthz', () => {
  it('answers before anything has been polled', async () => {
    const { get } = await buildTestApp({ scripts: scripts(), polled: false })
    const reply = await get('/healthz')
    expect([reply.status, await reply.json()]).toEqual([200, { status: 'ok' }])
    expect(reply.headers.get('cache-control')).toBe('no-store')
  })
})

describe('/readyz', () => {
  it('is 503 until the first poll of every server has ended, even of one that is down', async () => {
    const { get, fleet } = await buildTestApp({ scripts: scripts(), polled: false })
    const before = await get('/readyz')
    expect(before.status).toBe(503)
    expect(before.headers.get('retry-after')).toBe('1')
    expect(await before.json()).toMatchObject({
      code: 'NOT_READY',
      detail: 'The service is starting: it waits for the first poll of "survival", the first poll of "down".',
    })
    await fleet.get('survival')!.poll()
    expect((await (await get('/readyz')).json()).detail).toBe('The service is starting: it waits for the first poll of "down".')
    await fleet.get('down')!.poll()
    const after = await get('/readyz')
    expect([after.status, await after.json()]).toEqual([200, { status: 'ready' }])
  })

  it('waits for the snapshots', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const { get } = await buildTestApp({ scripts: scripts(), env: { PROJECTS_SNAPSHOT: `http://127.0.0.1:${port}/p.json` } })
    const reply = await get('/readyz')
    expect(reply.status).toBe(503)
    expect((await reply.json()).detail).toBe('The service is starting: it waits for the snapshot of projects.')
    silent.closeAllConnections()
    silent.close()
    // It could not be read, and /v1/status shows why.
    await expect.poll(async () => (await get('/readyz')).status).toBe(200)
  })
})

it('are both on the address of METRICS_LISTEN too, and need no token', async () => {
  const { app } = await buildTestApp({ scripts: scripts(), env: { METRICS_LISTEN: '127.0.0.1:9', METRICS_TOKEN: 'secret' } })
  const statusOf = async (url: string) => (await app.metricsApp!.inject(url)).statusCode
  expect(await statusOf('/healthz')).toBe(200)
  expect(await statusOf('/readyz')).toBe(200)
  expect(await statusOf('/metrics')).toBe(401)
})
