import { statusBedrock } from 'minecraft-server-util'
import { describe, expect, it } from 'vitest'
import { systemNetwork } from '../../../../src/game/network.ts'
import { StatusSource } from '../../../../src/game/sources/status/index.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { bedrockServer, magic, pong } from '../../../helpers/bedrock-server.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { never } from '../../../helpers/never.ts'
import { until } from '../../../helpers/until.ts'

const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }
const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('UDP')).length
const poll = (port: number, signal = never()) =>
  new StatusSource({ edition: 'bedrock', host: '127.0.0.1', port }, context).poll(signal)

describe('a Bedrock server', () => {
  const full = 'MCPE;§aDedicated Server;924;1.21.130;2;10;1234;Bedrock level;Creative;1;19132;19133;'

  it('is read', async () => {
    await using server = await bedrockServer((reply) => reply(pong(full)))
    const { fields } = await poll(server.port)
    expect(fields).toEqual({
      edition: 'bedrock',
      transport: 'raknet',
      version: '1.21.130',
      rawStatus: { version: '1.21.130', playersOnline: 2, playersMax: 10 },
      formattedMotd: '§aDedicated Server\nBedrock level',
      protocol: 924,
      motd: 'Dedicated Server\nBedrock level',
      playersOnline: 2,
      playersMax: 10,
      defaultGameMode: 'CREATIVE',
      ip: '127.0.0.1',
      port: server.port,
      latency: expect.any(Number),
    })
    expect(server.pings).toHaveLength(1)
    expect(server.pings[0]?.[0]).toBe(0x01)
    expect(server.pings[0]?.subarray(9, 25)).toEqual(magic)
  })

  it('is read by name and over IPv6', async () => {
    await using server = await bedrockServer((reply) => reply(pong(full)), '::1')
    const network = { ...systemNetwork, lookup: async () => [{ address: '::1', family: 6 }] }
    const source = new StatusSource({ edition: 'bedrock', host: 'mc.example.org', port: server.port }, { ...context, network })
    expect((await source.poll(never())).fields.ip).toBe('::1')
  })

  it('may omit the fields after the counts', async () => {
    await using server = await bedrockServer((reply) => reply(pong('MCPE;Pocket;70;0.14.3;0;20')))
    const { fields } = await poll(server.port)
    expect(fields).toEqual({
      edition: 'bedrock',
      transport: 'raknet',
      version: '0.14.3',
      rawStatus: { version: '0.14.3', playersOnline: 0, playersMax: 20 },
      protocol: 70,
      motd: 'Pocket',
      playersOnline: 0,
      playersMax: 20,
      players: { players: [], complete: true },
      ip: '127.0.0.1',
      port: server.port,
      latency: expect.any(Number),
    })
  })

  it.each([
    // Of Bedrock Dedicated Server 1.26.40 with enable-lan-visibility=false.
    ['after the magic', pong('').subarray(0, 33)],
    ['with an empty text', pong('')],
  ])('is up if its pong ends %s, and the rest is unknown', async (_, bytes) => {
    await using server = await bedrockServer((reply) => reply(bytes))
    expect((await poll(server.port)).fields).toEqual({
      edition: 'bedrock',
      transport: 'raknet',
      rawStatus: { version: '' },
      ip: '127.0.0.1',
      port: server.port,
      latency: expect.any(Number),
    })
  })

  it.each([full, 'MCPE;§lBold;70;0.14.3;0;20', 'MCEE;Classroom;800;1.21.90;3;40;99;Level;Survival'])(
    'is read as minecraft-server-util reads it: %s',
    async (text) => {
      await using server = await bedrockServer((reply) => reply(pong(text)))
      const { fields } = await poll(server.port)
      const library = await statusBedrock('127.0.0.1', server.port, { enableSRV: false, timeout: 20_000 })
      expect(fields).toMatchObject({
        motd: library.motd.clean,
        version: library.version.name,
        protocol: library.version.protocol,
        playersOnline: library.players.online,
        playersMax: library.players.max,
      })
    },
  )

  it('is pinged again if a datagram is lost, and its latency is that of the answered ping', async () => {
    const clock = manualClock()
    let lost = 2
    await using server = await bedrockServer((reply, ping) => {
      if (lost-- > 0) return
      const answer = pong(full)
      ping.copy(answer, 1, 1, 9)
      reply(answer)
    })
    const source = new StatusSource({ edition: 'bedrock', host: '127.0.0.1', port: server.port }, { ...context, clock })
    const polled = source.poll(never())
    for (const count of [1, 2]) {
      await until(() => server.pings.length === count)
      await clock.advance(500)
    }
    const { fields } = await polled
    expect(server.pings).toHaveLength(3)
    expect(fields).toMatchObject({ playersOnline: 2, latency: 0 })
    expect(clock.pending).toBe(0)
  })

  it.each([
    ['garbage', Buffer.from('garbage')],
    ['an empty datagram', Buffer.alloc(0)],
    ['a pong that is cut short', pong(full).subarray(0, 60)],
    ['a pong that is cut short in the length of its text', pong('').subarray(0, 34)],
    ['a pong that is cut short in the magic', pong('').subarray(0, 32)],
    ['a pong of two fields', pong('MCPE;x')],
    ['a pong without the magic', pong(full).fill(0, 17, 33)],
  ])('that answers with %s is malformed', async (_, bytes) => {
    await using server = await bedrockServer((reply) => reply(bytes))
    await expect(poll(server.port)).rejects.toMatchObject({ name: 'SourceError', code: 'malformed' })
    // Only that of the server remains.
    await expect.poll(sockets).toBe(1)
  })

  it('that answers with a pong of 20 kB is too large', async () => {
    await using server = await bedrockServer((reply) => reply(pong(`MCPE;${'x'.repeat(20_000)};1;1;1;1`)))
    await expect(poll(server.port)).rejects.toMatchObject({ name: 'SourceError', code: 'too_large' })
  })

  it('that floods is bounded: the first datagram counts', async () => {
    await using server = await bedrockServer((reply) => {
      reply(pong(full))
      for (let count = 0; count < 200; count++) reply(Buffer.alloc(8_000, 0x1c))
    })
    expect((await poll(server.port)).fields.playersOnline).toBe(2)
    // Only that of the server remains.
    await expect.poll(sockets).toBe(1)
  })

  it('that is silent times out at the deadline, with every socket closed', async () => {
    await using server = await bedrockServer(() => {})
    await expect(poll(server.port, AbortSignal.timeout(200))).rejects.toThrow()
    // Only that of the server remains.
    await expect.poll(sockets).toBe(1)
  })

  it('that does not exist is refused', async () => {
    const server = await bedrockServer(() => {})
    await server[Symbol.asyncDispose]()
    await expect(poll(server.port)).rejects.toMatchObject({ code: 'refused' })
  })
})
