import { once } from 'node:events'
import { get as httpGet } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { buildTestApp } from '../../helpers/test-app.ts'
import { until } from '../../helpers/until.ts'

const start = (env: Record<string, string>) => buildTestApp({ scripts: { Server: { status: {} } }, env })

async function open(url: string, localAddress = '127.0.0.1'): Promise<Socket & { received: string }> {
  const socket = Object.assign(connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress }), { received: '' })
  onTestFinished(() => void socket.destroy())
  socket
    .on('error', () => {})
    .on('data', (chunk) => {
      socket.received += chunk
    })
  await once(socket, 'connect')
  return socket
}

/** The status of the reply on a new connection. */
const statusOf = (url: string, localAddress = '127.0.0.1') =>
  new Promise<number | undefined>((resolve, reject) => {
    httpGet(`${url}/v1/ping`, { localAddress, agent: false }, (reply) => resolve(reply.resume().statusCode)).on('error', reject)
  })

it('refuses the connections of one client above the limit with 429, and none of others', async () => {
  const { url, app } = await start({ CLIENT_CONNECTIONS: '3' })
  const idle = [await open(url), await open(url), await open(url)]
  const refused = await open(url)
  await once(refused, 'end')
  const [head = '', body = ''] = refused.received.split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/)
  expect(head).toMatch(/\r\ncontent-type: application\/problem\+json/)
  expect(head).toMatch(/\r\nretry-after: \d+/)
  expect(head).toMatch(/\r\nconnection: close/)
  const detail = expect.stringMatching(/CLIENT_CONNECTIONS.*TRUST_PROXY/)
  expect(JSON.parse(body)).toMatchObject({ code: 'TOO_MANY_REQUESTS', detail })
  expect(await statusOf(url)).toBe(429)
  expect(await statusOf(url, '127.0.0.2')).toBe(200)
  idle[0]!.destroy()
  await until(async () => (await statusOf(url)) === 200)
  // A refused connection is closed even if its client does not.
  const silent = await open(url)
  silent.pause()
  const connections = () => new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))
  await until(async () => (await connections()) <= 3)
})

it('answers a refused connection once, however many requests it sends', async () => {
  const { url } = await start({ CLIENT_CONNECTIONS: '1' })
  await open(url)
  const refused = await open(url)
  refused.write('GET /v1/ping HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(3))
  await once(refused, 'close')
  expect(refused.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 429'])
})

it('does not limit a trusted proxy', async () => {
  const { url } = await start({ CLIENT_CONNECTIONS: '1', TRUST_PROXY: 'loopback' })
  for (let count = 0; count < 5; count++) await open(url)
  expect(await statusOf(url)).toBe(200)
})
