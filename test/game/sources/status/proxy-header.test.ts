import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDemoServer } from '../../../../src/demo/demo-server.ts'
import { encodeProxyHeader } from '../../../../src/game/protocol/status/proxy-header.ts'
import { StatusSource } from '../../../../src/game/sources/status/index.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { hostileServer } from '../../../helpers/hostile-servers.ts'
import { never } from '../../../helpers/never.ts'
import { patientClock } from '../../../helpers/patient-clock.ts'
import { hasTool } from '../../../helpers/require-tool.ts'
import { freePort, runTool } from '../../../helpers/run-tool.ts'

const context = { clock: patientClock, log: silentLog, random: () => 0, push() {} }
const source = (port: number, options: ConstructorParameters<typeof StatusSource>[2]) =>
  new StatusSource({ edition: 'java', host: '127.0.0.1', port }, context, options)

describe('haproxy with accept-proxy', () => {
  async function startHaproxy(backend: number) {
    const folder = mkdtempSync(join(tmpdir(), 'haproxy-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const port = await freePort()
    const file = join(folder, 'haproxy.cfg')
    const times = 'timeout connect 5s\n timeout client 30s\n timeout server 30s'
    const text = `defaults\n mode tcp\n ${times}\nfrontend game\n bind 127.0.0.1:${port} accept-proxy\n default_backend game\nbackend game\n server one 127.0.0.1:${backend}\n`
    writeFileSync(file, text)
    return { port, process: await runTool('haproxy', ['-db', '-q', '-f', file], port) }
  }

  it.skipIf(!hasTool('haproxy')).each(['v1', 'v2'] as const)('takes the header of %s', async (proxyProtocol) => {
    const demo = await startDemoServer({ players: 3 })
    onTestFinished(demo.close)
    const { port, process } = await startHaproxy(demo.address.port)
    await using _ = process
    const { fields } = await source(port, { proxyProtocol }).poll(never())
    expect(fields).toMatchObject({ version: '1.21.11', playersOnline: 3, ip: '127.0.0.1', port })
    // The same load balancer closes a connection without the header.
    await expect(source(port, {}).poll(AbortSignal.timeout(60_000))).rejects.toMatchObject({ code: 'closed' })
  })
})

describe('the header', () => {
  const ends = { localAddress: '192.0.2.7', localPort: 50_000, remoteAddress: '198.51.100.9', remotePort: 25_565 }
  const six = { localAddress: 'fe80::1%eth0', localPort: 1, remoteAddress: '2001:db8::2', remotePort: 25_565 }

  it('of v1 is a line', () => {
    expect(encodeProxyHeader('v1', ends).toString()).toBe('PROXY TCP4 192.0.2.7 198.51.100.9 50000 25565\r\n')
    expect(encodeProxyHeader('v1', six).toString()).toBe('PROXY TCP6 fe80::1 2001:db8::2 1 25565\r\n')
    expect(encodeProxyHeader('v1', {}).toString()).toBe('PROXY UNKNOWN\r\n')
  })

  it('of v2 is binary', () => {
    expect(encodeProxyHeader('v2', ends).toString('hex')).toBe('0d0a0d0a000d0a515549540a2111000cc0000207c6336409c35063dd')
    expect(encodeProxyHeader('v2', six).toString('hex')).toBe(
      '0d0a0d0a000d0a515549540a21210024fe80000000000000000000000000000120010db8000000000000000000000002000163dd',
    )
    expect(encodeProxyHeader('v2', {}).toString('hex')).toBe('0d0a0d0a000d0a515549540a20000000')
  })

  it('comes first in a legacy request and a TLS handshake too', async () => {
    const requests: string[] = []
    await using server = await hostileServer((socket) => {
      let received = ''
      socket.on('data', (chunk: Buffer) => {
        const isComplete = received.includes('\r\n')
        received += chunk.toString('latin1')
        if (isComplete || !received.includes('\r\n')) return
        requests.push(received)
        socket.end()
      })
    })
    await expect(source(server.port, { proxyProtocol: 'v1' }).poll(never())).rejects.toMatchObject({ code: 'closed' })
    await expect.poll(() => requests.length).toBe(5)
    expect(requests.every((request) => request.startsWith('PROXY TCP4 127.0.0.1 127.0.0.1 '))).toBe(true)
  })
})
