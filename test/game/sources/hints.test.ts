import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { settingsOfServer } from '../../../src/config/settings.ts'
import { createFleet } from '../../../src/game/fleet.ts'
import type { ServerSettings } from '../../../src/game/server-settings.ts'
import { nameSettings } from '../../../src/game/setting-names.ts'
import type { SourceState } from '../../../src/game/snapshot.ts'
import { createSources } from '../../../src/game/sources/create-sources.ts'
import { sources } from '../../../src/game/sources/index.ts'
import type { SourceDescriptor } from '../../../src/game/sources/source.ts'
import { describeSources } from '../../../src/status-api/sources.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { type Log, silentLog } from '../../../src/util/log.ts'
import { sourceHints } from '../../../src/web/server-details.ts'
import { selfSigned } from '../../helpers/certificate.ts'
import { hostileServer } from '../../helpers/hostile-servers.ts'
import { managementServer } from '../../helpers/management-server.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { listenRconPeer, packet } from '../../helpers/rcon-peer.ts'
import { hasTool } from '../../helpers/require-tool.ts'
import { until } from '../../helpers/until.ts'

const descriptors: readonly SourceDescriptor[] = sources

/** The snapshot after one poll, and what was logged. */
async function pollOnce(servers: readonly ServerSettings[], index = 0) {
  const lines: string[] = []
  const log: Log = { ...silentLog, warn: (_: unknown, text?: string) => void lines.push(text ?? '') }
  const poll = { interval: 60_000, timeout: 10_000, staleAfter: 180_000 }
  const fleet = createFleet({ servers, poll, clock: systemClock, log, createSources })
  onTestFinished(() => fleet.close())
  return { snapshot: await fleet.watchers[index]!.poll(), lines }
}

/** The snapshot after a poll that ends at its deadline, which passes once the sources wait for the replies. */
async function pollInVain(server: ServerSettings, isWaiting: () => boolean) {
  const lines: string[] = []
  const log: Log = { ...silentLog, warn: (_: unknown, text?: string) => void lines.push(text ?? '') }
  const clock = manualClock()
  const poll = { interval: 60_000, timeout: 1_000, staleAfter: 180_000 }
  const fleet = createFleet({ servers: [server], poll, clock, log, createSources })
  onTestFinished(() => fleet.close())
  const polling = fleet.watchers[0]!.poll()
  await until(isWaiting)
  // No further: what a source takes to end its poll is real time.
  await clock.advance(1_000)
  return { snapshot: await polling, lines }
}

/** A server that answers nothing, and on how many connections something was sent. */
async function muteServer() {
  let asked = 0
  const server = await hostileServer((socket) => void socket.resume().once('data', () => asked++))
  return Object.assign(server, { asked: () => asked })
}

const errorOf = (states: readonly SourceState[], name: string) => states.find(({ source }) => source === name)?.lastError

function configFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-hints-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'tickwarden.yaml')
  writeFileSync(file, text)
  return file
}

describe('the hint at a timeout fits how far the source got:', () => {
  const status = (port: number) => ({ status: { address: { edition: 'java', host: '127.0.0.1', port } } }) as const

  it('RCON that answers no command after the login', async () => {
    const peer = await listenRconPeer(() => {})
    onTestFinished(() => peer.close())
    const server = { name: 'a', sources: { rcon: { address: peer.address, password: 'password' } } }
    const { snapshot, lines } = await pollInVain(server, () => peer.commands.length > 0)
    expect(peer.logins).toBe(1)
    const error = errorOf(snapshot.sources, 'rcon')
    expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('; the login is accepted, but no command') })
    expect(error?.message).not.toContain('may this machine connect')
    expect(lines).toEqual([expect.stringContaining(error?.message ?? '')])
  })

  it('RCON that does not answer the login', async () => {
    await using silent = await muteServer()
    const address = { host: '127.0.0.1', port: silent.port }
    const server = { name: 'a', sources: { rcon: { address, password: 'password' } } }
    const { snapshot } = await pollInVain(server, () => silent.asked() === 1)
    expect(errorOf(snapshot.sources, 'rcon')?.message).toContain('; the connection is accepted, but not the login')
  })

  it('the management protocol that answers no request', async () => {
    const server = await managementServer()
    onTestFinished(() => server.close())
    server.results = Object.fromEntries(Object.keys(server.results).map((method) => [method, 'silent']))
    const { url, secret } = server
    const { snapshot } = await pollInVain({ name: 'a', sources: { management: { url, secret } } }, () => server.called.length > 0)
    expect(errorOf(snapshot.sources, 'management')?.message).toContain('; the secret is accepted, but no request is answered')
  })

  it('a status, a WebSocket and an agent that are not answered on a connection that is accepted', async () => {
    await using silent = await muteServer()
    const url = `127.0.0.1:${silent.port}`
    const server = {
      name: 'a',
      sources: {
        ...status(silent.port),
        management: { url: `ws://${url}`, secret: 's'.repeat(40) },
        jmx: { url: `http://${url}/jolokia` },
      },
    }
    const { snapshot } = await pollInVain(server, () => silent.asked() === 3)
    for (const source of ['status', 'management', 'jmx'])
      expect(errorOf(snapshot.sources, source)).toMatchObject({
        code: 'timeout',
        message: expect.stringContaining('; the connection is accepted, but'),
      })
  })
})

describe('the hint fits what failed:', () => {
  const managementAt = (port: number) => ({ url: `ws://127.0.0.1:${port}`, secret: 's'.repeat(40) })
  const rconAt = (port: number) => ({ rcon: { address: { host: '127.0.0.1', port }, password: 'password' } })

  it('a proxy that is not running', async () => {
    const via = { protocol: 'socks5', host: '127.0.0.1', port: 1 } as const
    const { snapshot } = await pollOnce([{ name: 'a', via, sources: { ...rconAt(2), management: managementAt(2) } }])
    for (const source of ['rcon', 'management'])
      expect(errorOf(snapshot.sources, source)).toMatchObject({
        code: 'refused',
        message: expect.stringMatching(
          /^through the proxy socks5:\/\/127\.0\.0\.1:1: the proxy cannot be reached: connection refused .*; is the proxy running, and is MC_VIA its address\?$/,
        ),
      })
  })

  it('a proxy that rejects the credentials, for which no password of the server is blamed', async () => {
    await using proxy = await hostileServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'))
    })
    const via = { protocol: 'http', host: '127.0.0.1', port: proxy.port } as const
    const { snapshot } = await pollOnce([{ name: 'a', via, sources: rconAt(2) }])
    const error = errorOf(snapshot.sources, 'rcon')
    expect(error).toMatchObject({ code: 'auth', message: expect.stringContaining('; MC_VIA_CREDENTIALS must be') })
    expect(error?.message).not.toContain('MC_RCON_PASSWORD')
  })

  it('a program that is not a proxy', async () => {
    await using server = await hostileServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'))
    const via = { protocol: 'http', host: '127.0.0.1', port: server.port } as const
    const { snapshot } = await pollOnce([{ name: 'a', via, sources: { management: managementAt(2) } }])
    expect(errorOf(snapshot.sources, 'management')).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('; is MC_VIA the address of a proxy'),
    })
  })

  it('a port of another protocol instead of the management protocol', async () => {
    await using closing = await hostileServer((socket) => socket.destroy())
    await using ssh = await hostileServer((socket) => void socket.write('SSH-2.0-OpenSSH_9.6\r\n'))
    for (const [port, code] of [[closing.port, 'closed'] as const, [ssh.port, 'malformed'] as const]) {
      const { snapshot } = await pollOnce([{ name: 'a', sources: { management: managementAt(port) } }])
      expect(errorOf(snapshot.sources, 'management')).toMatchObject({
        code,
        message: expect.stringContaining('; is this the management-server-port of its server.properties?'),
      })
    }
  })

  it.skipIf(!hasTool('openssl'))('an agent with a certificate that is not trusted', async () => {
    const { folder, key, cert } = selfSigned()
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const agent = createServer({ key, cert }, (_, reply) => reply.end('{}')).listen(0, '127.0.0.1')
    onTestFinished(() => void agent.close())
    await once(agent, 'listening')
    const { port } = agent.address() as AddressInfo
    const { snapshot } = await pollOnce([{ name: 'a', sources: { jmx: { url: `https://127.0.0.1:${port}/jolokia` } } }])
    expect(errorOf(snapshot.sources, 'jmx')).toMatchObject({
      code: 'tls',
      message: expect.stringMatching(/TLS handshake failed \(self-signed certificate\); .*NODE_EXTRA_CA_CERTS/),
    })
  })
})

describe('the name of a setting in a hint', () => {
  const refusing = () =>
    listenRconPeer(
      () => {},
      ({ socket }) => void socket.write(packet(-1, 2, '')),
    )

  it('names the key in the configuration file, or the environment variable if it is set there', async () => {
    const peer = await refusing()
    onTestFinished(() => peer.close())
    const rcon = `rcon: { address: "127.0.0.1:${peer.port}", password: wrong }`
    const file = configFile(
      `servers:\n  - { name: a, address: "127.0.0.1:1", rcon: { address: "127.0.0.1:${peer.port}" } }\n  - { name: b, address: "127.0.0.1:1", ${rcon} }\n`,
    )
    const { servers } = loadConfig({ file, env: { MC_RCON_PASSWORD: 'wrong too' } })
    const first = await pollOnce(servers)
    const second = await pollOnce(servers, 1)
    expect(errorOf(first.snapshot.sources, 'rcon')?.message).toContain('the password (MC_RCON_PASSWORD)')
    expect(errorOf(second.snapshot.sources, 'rcon')?.message).toContain('the password (rcon.password)')
    expect(second.lines.join()).toContain('(rcon.password)')
    const [, b] = servers
    const { fields } = describeSources(second.snapshot, { edition: 'java', settingNames: b?.settingNames })
    expect(fields.plugins?.setting).toContain('set enable-query=true and query')
    expect(fields.difficulty?.setting).toContain('check enable-rcon=true and rcon.password')
    expect(JSON.stringify([fields, sourceHints(second.snapshot, b!)])).not.toContain('MC_')
  })

  it('is that of the environment without a file', async () => {
    const peer = await refusing()
    onTestFinished(() => peer.close())
    const env = { MC_SERVER: '127.0.0.1:1', MC_RCON: `127.0.0.1:${peer.port}`, MC_RCON_PASSWORD: 'wrong' }
    const { servers } = loadConfig({ env })
    const { snapshot } = await pollOnce(servers)
    expect(errorOf(snapshot.sources, 'rcon')?.message).toContain('the password (MC_RCON_PASSWORD)')
  })

  it.each(descriptors.map((source) => [source.name, source] as const))(
    'of %s is the name of an existing setting',
    (_, { hints, requires }) => {
      const names = Object.fromEntries(settingsOfServer.map(({ env, file }) => [env, `servers[7].${file}`]))
      for (const text of [...Object.values(hints), ...Object.values(requires ?? {})])
        expect(nameSettings(text, names)).not.toContain('MC_')
    },
  )
})
