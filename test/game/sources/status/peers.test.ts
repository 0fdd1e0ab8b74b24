import { status as readByLibrary, statusBedrock } from 'minecraft-server-util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StatusSource } from '../../../../src/game/sources/status/index.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { never } from '../../../helpers/never.ts'
import { patientClock } from '../../../helpers/patient-clock.ts'
import { startPeerServers } from '../../../helpers/peer-servers.ts'

const protocols = { '1.8.9': 47, '1.12.2': 340, '1.16.5': 754, '1.20.4': 765, '1.21.4': 769, '1.21.11': 774 } as const
const versions = Object.keys(protocols) as (keyof typeof protocols)[]

let peers: Awaited<ReturnType<typeof startPeerServers>>
let ports: Readonly<Record<string, number>> = {}

beforeAll(async () => {
  peers = await startPeerServers(versions)
  ports = peers.ports
})
afterAll(() => peers?.close())

async function read(name: string) {
  const port = ports[name] ?? 0
  const context = { clock: patientClock, log: silentLog, random: () => 0, push() {} }
  const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port }, context)
  const startedAt = performance.now()
  const { fields } = await source.poll(never())
  const seconds = (performance.now() - startedAt) / 1_000
  return { port, fields, seconds, library: await readByLibrary('127.0.0.1', port, { enableSRV: false, timeout: 20_000 }) }
}

describe('minecraft-protocol as', () => {
  it.each(versions)('%s is read, and as minecraft-server-util reads it', async (version) => {
    const { port, fields, seconds, library } = await read(version)
    const { favicon, latency, rawStatus, formattedMotd, ...rest } = fields
    // Of several versions with the same protocol, the peer sends the last but one.
    const named = version === '1.8.9' ? '1.8.8' : version
    expect(rest).toEqual({
      edition: 'java',
      version: named,
      protocol: protocols[version],
      motd: `Version ${version}\nsecond line`,
      playersOnline: 2,
      playersMax: 42,
      players: { players: [{ name: 'Alice', id: 'ec561538-f3fd-461d-aff5-086b22154bce' }], complete: false },
      ...(protocols[version] >= 760 && { secureChatEnforced: false }),
      ip: '127.0.0.1',
      port,
    })
    expect(latency).toBeGreaterThan(0)
    expect(latency).toBeLessThan(seconds)
    expect(library).toMatchObject({
      version: { name: rest.version, protocol: rest.protocol },
      players: { online: rest.playersOnline, max: rest.playersMax },
      favicon: `data:image/png;base64,${favicon?.toString('base64')}`,
    })
    expect(rawStatus).toEqual({ version: library.version.name, playersOnline: 2, playersMax: 42 })
    expect(formattedMotd).toBe(`§6Version ${version}§r\nsecond line`)
    expect(library.motd.clean).toBe(rest.motd)
    expect(library.players.sample?.[0]).toEqual(rest.players?.players[0])
  })
})

it('flying-squid, a game server, is read, and as minecraft-server-util reads it', async () => {
  const { fields, library } = await read('flying-squid')
  expect(fields).toMatchObject({
    version: '1.16.1',
    protocol: 736,
    motd: 'A flying squid',
    playersOnline: 0,
    playersMax: 7,
    players: { players: [], complete: true },
  })
  expect(library).toMatchObject({
    version: { name: '1.16.1', protocol: fields.protocol },
    players: { online: fields.playersOnline, max: fields.playersMax },
    motd: { clean: fields.motd },
  })
})

it('bedrock-protocol is read by RakNet, and as minecraft-server-util reads it', async () => {
  const port = ports['bedrock-protocol'] ?? 0
  const context = { clock: patientClock, log: silentLog, random: () => 0, push() {} }
  const source = new StatusSource({ edition: 'bedrock', host: '127.0.0.1', port }, context)
  const { fields } = await source.poll(never())
  const { latency, ...rest } = fields
  expect(rest).toEqual({
    edition: 'bedrock',
    transport: 'raknet',
    version: '1.26.45',
    protocol: expect.any(Number),
    motd: 'Bedrock peer\nPeer level',
    formattedMotd: '§6Bedrock§r peer\nPeer level',
    // It counts the players itself, and none are connected.
    playersOnline: 0,
    playersMax: 12,
    players: { players: [], complete: true },
    defaultGameMode: 'CREATIVE',
    rawStatus: { version: '1.26.45', playersOnline: 0, playersMax: 12 },
    ip: '127.0.0.1',
    port,
  })
  expect(latency).toBeGreaterThan(0)
  const library = await statusBedrock('127.0.0.1', port, { enableSRV: false, timeout: 20_000 })
  expect(library).toMatchObject({
    version: { name: rest.version, protocol: rest.protocol },
    players: { online: rest.playersOnline, max: rest.playersMax },
    gameMode: 'Creative',
  })
})
