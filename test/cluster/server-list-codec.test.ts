import { describe, expect, it } from 'vitest'
import { fingerprintOf } from '../../src/cluster/server-fingerprint.ts'
import { decodeServerList, encodeServerList } from '../../src/cluster/server-list-codec.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { ServerSettings } from '../../src/game/server-settings.ts'

const env = { MC_NAME: 'survival', MC_SERVER: 'mc.test:25565', MC_RCON: 'mc.test:25575', MC_RCON_PASSWORD: 'hunter2' }

function serverWith(more: Readonly<Record<string, string>> = {}): ServerSettings {
  const [server] = loadConfig({ env: { ...env, ...more } }).servers
  return server!
}

describe('fingerprintOf', () => {
  it('does not depend on how the settings are given', () => {
    const { sources, ...server } = serverWith()
    const { status, ...others } = sources
    const { address } = status!
    const reordered = { ...others, status: { address: Object.fromEntries(Object.entries(address!).reverse()) } }
    const given = { sources: reordered, settingNames: {}, ...server } as unknown as ServerSettings
    expect(fingerprintOf(given)).toEqual(fingerprintOf(serverWith()))
  })

  it.each([
    ['address', { MC_SERVER: 'mc.test:25566' }],
    ['address of a source', { MC_RCON: 'other.test' }],
    ['group', { MC_GROUP: 'Games' }],
    ['proxy', { MC_VIA: 'socks5://proxy.test:1080' }],
    ['missing secret', { MC_RCON: '', MC_RCON_PASSWORD: '' }],
  ])('changes with the %s', (_, more) => {
    expect(fingerprintOf(serverWith(more)).settings).not.toBe(fingerprintOf(serverWith()).settings)
    expect(fingerprintOf(serverWith(more)).name).toBe(fingerprintOf(serverWith()).name)
  })

  it('does not depend on a secret, which could be found by trying', () => {
    expect(fingerprintOf(serverWith({ MC_RCON_PASSWORD: 'other' }))).toEqual(fingerprintOf(serverWith()))
  })
})

describe('encodeServerList', () => {
  const servers = Array.from({ length: 300 }, (_, index) => serverWith({ MC_NAME: `s${index}` }))

  it('encodes the fingerprint of each server', async () => {
    const { text } = await encodeServerList(servers)
    const list = await decodeServerList(text)
    expect(list).toEqual(new Map(servers.map(fingerprintOf).map(({ name, settings }) => [name, settings])))
  })

  it('gives lists of the same servers the same digest', async () => {
    const { digest } = await encodeServerList(servers)
    expect((await encodeServerList([...servers].reverse())).digest).toBe(digest)
    expect((await encodeServerList(servers.slice(1))).digest).not.toBe(digest)
    const other = serverWith({ MC_NAME: 's0', MC_GROUP: 'Games' })
    expect((await encodeServerList([other, ...servers.slice(1)])).digest).not.toBe(digest)
    expect((await encodeServerList([])).digest).toMatch(/^0-/)
  })

  it('refuses a text that is not a list', async () => {
    expect(await decodeServerList('x')).toBeUndefined()
    expect(await decodeServerList('')).toEqual(new Map())
  })
})
