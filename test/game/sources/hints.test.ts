import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import { settingsOfServer } from '../../../src/config/settings.ts'
import { loadConfig } from '../../../src/config.ts'
import { createFleet } from '../../../src/game/fleet.ts'
import type { ServerSettings } from '../../../src/game/server.ts'
import { nameSettings } from '../../../src/game/setting-names.ts'
import type { SourceState } from '../../../src/game/snapshot.ts'
import { createSources } from '../../../src/game/sources/create-sources.ts'
import { sources } from '../../../src/game/sources/index.ts'
import type { SourceDescriptor } from '../../../src/game/sources/source.ts'
import { type Log, silentLog } from '../../../src/log.ts'
import { describeSources } from '../../../src/status-api/sources.ts'
import { sourceHints } from '../../../src/web/page-sources.ts'
import { hostileServer } from '../../helpers/hostile-servers.ts'
import { managementServer } from '../../helpers/management-server.ts'
import { listenRconPeer, packet } from '../../helpers/rcon-peer.ts'

const descriptors: readonly SourceDescriptor[] = sources

/** The snapshot after one poll, and what was logged. */
async function pollOnce(servers: readonly ServerSettings[], timeout = 10_000, index = 0) {
  const lines: string[] = []
  const log: Log = { ...silentLog, warn: (_: unknown, text?: string) => void lines.push(text ?? '') }
  const poll = { interval: 60_000, timeout, staleAfter: 180_000 }
  const fleet = createFleet({ servers, poll, clock: systemClock, log, createSources })
  onTestFinished(() => fleet.close())
  return { snapshot: await fleet.watchers[index]!.poll(), lines }
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
    const { snapshot, lines } = await pollOnce([server], 1_000)
    expect(peer.logins).toBe(1)
    const error = errorOf(snapshot.sources, 'rcon')
    expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('; the login is accepted, but no command') })
    expect(error?.message).not.toContain('may this machine connect')
    expect(lines).toEqual([expect.stringContaining(error?.message ?? '')])
  })

  it('RCON that does not answer the login', async () => {
    await using silent = await hostileServer((socket) => void socket.resume())
    const address = { host: '127.0.0.1', port: silent.port }
    const { snapshot } = await pollOnce([{ name: 'a', sources: { rcon: { address, password: 'password' } } }], 500)
    expect(errorOf(snapshot.sources, 'rcon')?.message).toContain('; the connection is accepted, but not the login')
  })

  it('the management protocol that answers no request', async () => {
    const server = await managementServer()
    onTestFinished(() => server.close())
    server.results = Object.fromEntries(Object.keys(server.results).map((method) => [method, 'silent']))
    const { url, secret } = server
    const { snapshot } = await pollOnce([{ name: 'a', sources: { management: { url, secret } } }], 1_000)
    expect(server.called.length).toBeGreaterThan(0)
    expect(errorOf(snapshot.sources, 'management')?.message).toContain('; the secret is accepted, but no request is answered')
  })

  it('a status, a WebSocket and an agent that are not answered on a connection that is accepted', async () => {
    await using silent = await hostileServer((socket) => void socket.resume())
    const url = `127.0.0.1:${silent.port}`
    const server = {
      name: 'a',
      sources: {
        ...status(silent.port),
        management: { url: `ws://${url}`, secret: 's'.repeat(40) },
        jmx: { url: `http://${url}/jolokia` },
      },
    }
    const { snapshot } = await pollOnce([server], 500)
    for (const source of ['status', 'management', 'jmx'])
      expect(errorOf(snapshot.sources, source)).toMatchObject({
        code: 'timeout',
        message: expect.stringContaining('; the connection is accepted, but'),
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
    const second = await pollOnce(servers, 10_000, 1)
    expect(errorOf(first.snapshot.sources, 'rcon')?.message).toContain('the password (MC_RCON_PASSWORD)')
    expect(errorOf(second.snapshot.sources, 'rcon')?.message).toContain('the password (rcon.password)')
    expect(second.lines.join()).toContain('(rcon.password)')
    const [, b] = servers
    const { fields } = describeSources(second.snapshot, { edition: 'java', settingNames: b?.settingNames })
    expect(fields.map?.setting).toBe('enable-query=true and query give the map')
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
