import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, expect, it } from 'vitest'
import { startDemoServer } from '../../../../src/demo/demo-server.ts'
import { StatusSource, status } from '../../../../src/game/sources/status/index.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { selfSigned } from '../../../helpers/certificate.ts'
import { hostileServer } from '../../../helpers/hostile-servers.ts'

const certificate = selfSigned()
let server: Server | undefined
afterEach(() => server?.close())

async function failure(port: number): Promise<unknown> {
  const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }
  const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port }, context)
  return source.poll(new AbortController().signal).catch((error: unknown) => error)
}

it.each([
  ['a web server', () => createHttpServer()],
  ['an SSH server', () => createServer((socket) => socket.on('error', () => {}).write('SSH-2.0-OpenSSH_9.6\r\n'))],
  // An alert (RFC 8446, section 6).
  ['a TLS server', () => createServer((socket) => socket.on('error', () => {}).end(Buffer.from('15030100020246', 'hex')))],
  // Node.js closes the connection without one.
  ['a TLS server', () => createTlsServer(certificate)],
  ['a TLS server', () => createTlsServer({ ...certificate, minVersion: 'TLSv1.3', requestCert: true, ca: certificate.cert })],
])('recognises %s', async (what, create) => {
  server = create()
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  expect(await failure(port)).toMatchObject({
    code: 'malformed',
    message: `127.0.0.1:${port}: this looks like ${what}; set the port that players use`,
  })
})

it('fails as closed at a port of RCON and at a proxy that hangs up, whose hint names both', async () => {
  const demo = await startDemoServer()
  expect(await failure(demo.rcon.address.port)).toMatchObject({ code: 'closed' })
  await demo.close()
  server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  expect(await failure((server.address() as AddressInfo).port)).toMatchObject({ code: 'closed' })
  expect(status.hints.closed).toMatch(/proxy .* RCON port .* TLS/)
})

it('tries a TLS handshake rarely, within the deadline, and closes the connection', async () => {
  let handshakes = 0
  // Closes connections without TLS, and never answers a TLS handshake.
  await using other = await hostileServer((socket) => {
    socket.once('data', (bytes) => {
      if (bytes[0] === 0x16) handshakes++
      else socket.destroy()
    })
  })
  const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }
  const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port: other.port }, context)
  for (let poll = 0; poll < 3; poll++) {
    await expect(source.poll(AbortSignal.timeout(60_000))).rejects.toMatchObject({ code: 'closed' })
  }
  expect(handshakes).toBe(1)
  await expect.poll(other.open).toBe(0)
})
