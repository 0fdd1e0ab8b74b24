import { execFile } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { promisify } from 'node:util'
import util from 'minecraft-server-util'
import { afterEach, describe, expect, it } from 'vitest'
import { type DemoOptions, type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { hasTool } from '../helpers/require-tool.ts'

const run = promisify(execFile)
let demo: DemoServer | undefined
let socket: Socket | undefined
afterEach(async () => {
  socket?.close()
  socket = undefined
  await demo?.close()
})

async function start(options: DemoOptions = {}): Promise<DemoServer> {
  demo = await startDemoServer({ scenario: 'steady', ...options })
  return demo
}

/** Sends one datagram and returns the reply. */
async function exchange(server: DemoServer, request: Buffer): Promise<Buffer> {
  send(server, request)
  const [reply] = (await once(socket!, 'message')) as [Buffer]
  return reply
}

function send(server: DemoServer, request: Buffer): void {
  socket ??= createSocket('udp4')
  socket.send(request, server.query.port, server.query.host)
}

const challenge = Buffer.from('fefd0901020304', 'hex')

async function statRequest(server: DemoServer): Promise<Buffer> {
  const token = Buffer.alloc(4)
  token.writeInt32BE(Number((await exchange(server, challenge)).toString('latin1', 5).replace('\0', '')))
  return Buffer.concat([Buffer.from('fefd0001020304', 'hex'), token])
}

describe('the query of the demo server', () => {
  it('is read by minecraft-server-util', async () => {
    const { query, address, world } = await start({ software: 'paper', players: 3 })
    const full = await util.queryFull(query.host, query.port, { enableSRV: false })
    expect(full).toMatchObject({
      motd: { clean: 'Tickwarden demo server' },
      version: '1.21.11',
      software: 'Paper on 1.21.11-R0.1-SNAPSHOT',
      plugins: ['DemoWorld 1.0.0', 'DemoShops 2.3'],
      map: 'world',
      players: { online: 3, max: 20, list: world.players().map(({ name }) => name) },
      hostIP: '127.0.0.1',
      hostPort: address.port,
    })
    const basic = await util.queryBasic(query.host, query.port, { enableSRV: false })
    expect(basic).toMatchObject({ gameType: 'SMP', map: 'world', players: { online: 3, max: 20 } })
    // The client reads the port as a signed number.
    expect(basic.hostPort & 0xffff).toBe(address.port)
  })

  it.skipIf(!hasTool('quakestat'))('is read by quakestat', async () => {
    const { query, world } = await start({ players: 15 })
    const { stdout } = await run('quakestat', ['-gs4', `${query.host}:${query.port}`, '-R', '-P', '-raw', '\t'])
    const [head, rules, ...players] = stdout.trim().split('\n')
    expect(head).toContain('\tTickwarden demo server\tworld\t20\t15\t')
    expect(rules).toContain('version=1.21.11')
    const names = players.map((line) => line.split('\t')[0]).sort()
    expect(names).toEqual(
      world
        .players()
        .map(({ name }) => name)
        .sort(),
    )
  })

  it('lists every player in the full reply', async () => {
    const { query, world } = await start({ players: 300 })
    const { players } = await util.queryFull(query.host, query.port, { enableSRV: false })
    expect(players).toEqual({ online: 300, max: 300, list: world.players().map(({ name }) => name) })
  })

  it.each([
    ['1.21.8', 'latin1'],
    ['1.21.11', 'utf8'],
  ] as const)('%s writes the MOTD in %s', async (era, encoding) => {
    const server = await start({ era, motd: 'Café §aé' })
    const reply = await exchange(server, await statRequest(server))
    expect(reply.subarray(5).toString(encoding)).toMatch(/^Café §aé\0SMP\0world\x005\x0020\0/)
  })

  it('returns the session of the client, and requires a token of the last 30 s', async () => {
    const clock = manualClock()
    const server = await start({ clock })
    expect((await exchange(server, challenge)).toString('latin1')).toMatch(/^\x09\x01\x02\x03\x04\d+\0$/)
    const request = await statRequest(server)
    expect((await exchange(server, request)).subarray(0, 5)).toEqual(Buffer.from('0001020304', 'hex'))
    const stranger = Buffer.from('fefd000102030400000000', 'hex')
    send(server, stranger)
    await clock.advance(30_000)
    send(server, request)
    // A reply to either would arrive before the reply to this one.
    expect((await exchange(server, challenge))[0]).toBe(9)
  })

  it('ignores datagrams that are not requests', async () => {
    const server = await start()
    for (const bytes of ['', '00', 'fefd', 'fefd09', 'fefd0001020304', 'fefd7701020304', 'ffff0901020304']) {
      send(server, Buffer.from(bytes, 'hex'))
    }
    expect((await exchange(server, challenge))[0]).toBe(9)
  })
})
