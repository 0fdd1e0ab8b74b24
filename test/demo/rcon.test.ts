import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { promisify } from 'node:util'
import util from 'minecraft-server-util'
import { afterEach, describe, expect, it } from 'vitest'
import { type DemoOptions, type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { hasPythonModule } from '../helpers/require-tool.ts'
import { freeDemoPorts } from '../helpers/run-tool.ts'

const run = promisify(execFile)
let demo: DemoServer | undefined
let open: Socket[] = []
afterEach(async () => {
  for (const socket of open) socket.destroy()
  open = []
  await demo?.close()
})

async function start(options: DemoOptions = {}): Promise<DemoServer> {
  demo = await startDemoServer({ scenario: 'steady', ...options })
  return demo
}

/** The reply to minecraft-server-util's RCON client, which supports replies of one piece. */
async function exchange(server: DemoServer, command: string): Promise<string> {
  const client = new util.RCON()
  await client.connect(server.rcon.address.host, server.rcon.address.port)
  await client.login(server.rcon.password)
  const reply = await client.execute(command)
  await client.close()
  return reply
}

function packet(id: number, type: number, body: string): Buffer {
  const bytes = Buffer.alloc(14 + body.length)
  bytes.writeInt32LE(10 + body.length, 0)
  bytes.writeInt32LE(id, 4)
  bytes.writeInt32LE(type, 8)
  bytes.write(body, 12)
  return bytes
}

/** A connection that collects the received packets. */
async function dial(server: DemoServer) {
  const socket = connect(server.rcon.address.port, server.rcon.address.host)
  open.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  let received = Buffer.alloc(0)
  let closed = false
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
  })
  socket.on('close', () => {
    closed = true
  })
  return {
    send: (bytes: Buffer) => socket.write(bytes),
    async closed() {
      if (!closed) await once(socket, 'close')
      return received.length
    },
    async next() {
      while (received.length < 4 || received.length < 4 + received.readInt32LE(0)) await once(socket, 'data')
      const length = 4 + received.readInt32LE(0)
      const [id, type, body] = [received.readInt32LE(4), received.readInt32LE(8), received.toString('utf8', 12, length - 2)]
      received = received.subarray(length)
      return { id, type, body }
    },
  }
}

const number = String.raw`\d+\.\d`
const ticks = (status: string, percentiles: string, digit = number) =>
  new RegExp(
    `^${status}Target tick rate: ${digit} per second\\.\\nAverage time per tick: ${digit}ms \\(Target: ${digit}ms\\)` +
      `Percentiles: P50: ${digit}ms P95: ${digit}ms P99: ${digit}ms${percentiles}$`,
  )

describe('the texts of an era', () => {
  it.each([
    ['1.20.4', ticks('The game runs normally', ', sample: 100')],
    ['1.21.8', ticks('The game is running normally', ', sample: 100')],
    ['1.21.11', ticks('The game is running normally', '\\. Sample: 100')],
    ['26.3', ticks('The game is running normally', '\\. Sample: 100')],
  ])('tick query of %s', async (era, text) => {
    expect(await exchange(await start({ era }), 'tick query')).toMatch(text)
  })

  it('tick query of a server that lags, is frozen or sprints', async () => {
    const lagging = await start({ scenario: 'tps10' })
    expect(await exchange(lagging, 'tick query')).toMatch(
      ticks("The game is running, but can't keep up with the target tick rate", '\\. Sample: 100'),
    )
    expect(await exchange(lagging, 'tick query')).toContain('Average time per tick: 100.0ms (Target: 50.0ms)')
    lagging.world.play('frozen')
    expect(await exchange(lagging, 'tick query')).toMatch(/^The game is frozenTarget tick rate: 20\.0 per second\.\n/)
    lagging.world.play('sprinting')
    expect(await exchange(lagging, 'tick query')).toMatch(
      /^The game is sprintingTarget tick rate: 20\.0 per second \(ignored, reference only\)\.\nAverage time per tick: \d+\.\dmsPercentiles: /,
    )
  })

  it('tick query with decimal commas', async () => {
    const server = await start({ decimalComma: true })
    expect(await exchange(server, 'tick query')).toMatch(
      ticks('The game is running normally', '\\. Sample: 100', String.raw`\d+,\d`),
    )
  })

  it.each([
    ['1.12.2', 'time query gametime', /^Time is \d+$/],
    ['1.13.2', 'time query daytime', /^The time is \d+$/],
    ['1.21.11', 'time query day', /^The time is \d+$/],
    ['26.1', 'time query gametime', /^The game time is \d+ tick\(s\)$/],
    ['26.1', 'time query time', /^Clock minecraft:overworld is at \d+ tick\(s\)$/],
    ['26.1', 'time query day repetition', /^Timeline minecraft:day has passed \d+ repetition\(s\)$/],
    ['26.1', 'time query daytime', /^Incorrect argument for command/],
    ['1.12.2', 'tick query', /^Unknown command\. Try \/help for a list of commands$/],
    ['1.20.2', 'tick query', /^Unknown or incomplete command, see below for errortick query<--\[HERE\]$/],
    ['1.21.11', 'tps', /^Unknown or incomplete command\. See below for errortps<--\[HERE\]$/],
    ['1.16.5', 'difficulty', /^The difficulty is Normal$/],
    [
      '1.21.8',
      'version',
      /^Server version info:id = 1\.21\.8name = 1\.21\.8data = 4440series = mainprotocol = 772 \(0x304\)build_time = /,
    ],
    ['1.20.4', 'version', /^Unknown or incomplete command/],
    ['1.21.11', 'stop', /^Unknown or incomplete command/],
  ])('%s answers "%s"', async (era, command, text) => {
    expect(await exchange(await start({ era }), command)).toMatch(text)
  })

  it.each([
    ['1.12.2', 'There are 2/20 players online:'],
    ['1.14.4', 'There are 2 of a max 20 players online: '],
    ['1.16.5', 'There are 2 of a max of 20 players online: '],
  ])('%s lists players', async (era, head) => {
    const server = await start({ era, players: 2 })
    const players = server.world.players()
    expect(await exchange(server, 'list')).toBe(head + players.map(({ name }) => name).join(', '))
    expect(await exchange(server, 'list uuids')).toBe(head + players.map(({ name, id }) => `${name} (${id})`).join(', '))
  })

  it.each([
    ['1.12.2', 'mspt', 'Unknown command. Type "/help" for help.\n'],
    ['1.20.4', 'spark tps', 'Unknown command. Type "/help" for help.\n'],
    ['1.21.8', 'spark tps', 'Unknown or incomplete command, see below for errorspark tps<--[HERE]'],
  ])('paper %s does not support "%s"', async (era, command, text) => {
    expect(await exchange(await start({ era, software: 'paper' }), command)).toBe(text)
  })

  it.each([
    // A tick near the turn of a second may count for the next one.
    ['paper', 'tps', /^§6TPS from last 1m, 5m, 15m: (§a(20\.0|19\.9[5-9])(§r, )?){3}\n$/],
    ['paper', 'mspt', /^§6Server tick times §e\(.*§e:\n§6◴ (§a\d+\.\d§7\/){2}§a\d+\.\d§e, .*\n$/],
    ['paper', 'version', /^This server is running Paper version 1\.21\.11 /],
    ['paper', 'minecraft:list', /^There are 5 of a max of 20 players online: /],
    [
      'forge',
      'forge tps',
      /^Dim minecraft:overworld \(minecraft:overworld\): Mean tick time: \d+\.\d{3} ms\. Mean TPS: 20\.000Dim .*Overall: Mean tick time: \d+\.\d{3} ms\. Mean TPS: 20\.000$/,
    ],
    [
      'neoforge',
      'neoforge tps',
      /^Overworld: 20\.000 TPS \(\d+\.\d{3} ms\/tick\)The Nether: .*Overall: 20\.000 TPS \(\d+\.\d{3} ms\/tick\)$/,
    ],
  ] as const)('%s answers "%s"', async (software, command, text) => {
    expect(await exchange(await start({ software }), command)).toMatch(text)
  })
})

describe('the protocol', () => {
  it('rejects a wrong password with the id -1, keeps the connection, and accepts the right one', async () => {
    const server = await start({ rconPassword: 'correct horse' })
    const client = await dial(server)
    client.send(packet(7, 3, 'wrong'))
    expect(await client.next()).toEqual({ id: -1, type: 2, body: '' })
    client.send(packet(8, 2, 'list'))
    expect(await client.next()).toEqual({ id: -1, type: 2, body: '' })
    client.send(packet(9, 3, 'correct horse'))
    expect(await client.next()).toEqual({ id: 9, type: 2, body: '' })
    client.send(packet(10, 2, 'difficulty'))
    expect(await client.next()).toEqual({ id: 10, type: 0, body: 'The difficulty is Normal' })
  })

  it('never accepts an empty password', async () => {
    const client = await dial(await start({ rconPassword: '' }))
    client.send(packet(1, 3, ''))
    expect((await client.next()).id).toBe(-1)
  })

  it('splits a long reply into pieces of 4096 and answers the end mark', async () => {
    const server = await start({ players: 300 })
    const client = await dial(server)
    client.send(packet(1, 3, server.rcon.password))
    await client.next()
    client.send(packet(2, 2, 'list uuids'))
    const first = await client.next()
    expect(first.body).toHaveLength(4096)
    client.send(packet(3, 100, ''))
    let text = first.body
    let piece = await client.next()
    for (; piece.id === 2; piece = await client.next()) text += piece.body
    expect(piece).toEqual({ id: 3, type: 0, body: 'Unknown request 64' })
    const players = server.world.players().map(({ name, id }) => `${name} (${id})`)
    expect(text).toBe(`There are 300 of a max of 300 players online: ${players.join(', ')}`)
  })

  it('sends no empty piece after a reply that fills the last piece', async () => {
    const server = await start({ players: 0, maxPlayers: 200, scenario: 'steady' })
    const client = await dial(server)
    client.send(packet(1, 3, server.rcon.password))
    await client.next()
    const head = 'There are 1 of a max of 200 players online: '
    server.world.join('x'.repeat(4096 - head.length))
    client.send(packet(2, 2, 'list'))
    expect((await client.next()).body).toHaveLength(4096)
    client.send(packet(3, 100, ''))
    expect((await client.next()).id).toBe(3)
  })

  it.each([
    ['two packets at once', Buffer.concat([packet(1, 3, 'a'), packet(2, 3, 'b')])],
    ['a length that is not that of what came', Buffer.from('ff000000010000000300000000000000', 'hex')],
    ['a negative length', Buffer.from('ffffffff010000000300000000000000', 'hex')],
    ['fewer than ten bytes', Buffer.from('05000000', 'hex')],
    ['more than it reads at once', packet(1, 3, 'x'.repeat(1500))],
  ])('closes the connection on %s', async (_what, bytes) => {
    const client = await dial(await start())
    client.send(bytes)
    expect(await client.closed()).toBe(0)
  })

  it('disconnects a client that does not log in, and keeps others', async () => {
    const clock = manualClock()
    const server = await start({ clock })
    const member = await dial(server)
    member.send(packet(1, 3, server.rcon.password))
    await member.next()
    const stranger = await dial(server)
    stranger.send(packet(1, 3, 'wrong'))
    await stranger.next()
    await clock.advance(15_000)
    await stranger.closed()
    member.send(packet(2, 2, 'difficulty'))
    expect((await member.next()).body).toBe('The difficulty is Normal')
  })

  it.each([
    ['tps10', 10],
    ['steady', 20],
  ] as const)('a rate measured from outside is right: %s', async (scenario, rate) => {
    const clock = manualClock()
    let ranAt = 0
    const server = await start({
      clock,
      scenario,
      onCommand: () => {
        ranAt = clock.now()
      },
    })
    const client = await dial(server)
    client.send(packet(1, 3, server.rcon.password))
    await client.next()
    async function read() {
      let reply: { body: string } | undefined
      client.send(packet(2, 2, 'time query gametime'))
      client.next().then((packet) => {
        reply = packet
      })
      // The command waits for the end of the tick that is running.
      for (; reply === undefined; await new Promise(setImmediate)) await clock.advance(1)
      return { ticks: Number(/\d+/.exec(reply.body)?.[0]), at: ranAt }
    }
    const before = await read()
    await clock.advance(10_000)
    const after = await read()
    const measured = ((after.ticks - before.ticks) / (after.at - before.at)) * 1000
    expect(Math.abs(measured - rate) / rate).toBeLessThan(0.01)
  })

  it('does not answer while the main thread is hung, and answers when it is free again', async () => {
    const clock = manualClock()
    const server = await start({ clock })
    const client = await dial(server)
    client.send(packet(1, 3, server.rcon.password))
    await client.next()
    server.world.play('hung')
    await clock.advance(5_000)
    let answered = false
    client.send(packet(2, 2, 'list'))
    const reply = client.next().finally(() => {
      answered = true
    })
    await util.status(server.address.host, server.address.port, { enableSRV: false })
    await clock.advance(200_000)
    await util.status(server.address.host, server.address.port, { enableSRV: false })
    expect(answered).toBe(false)
    server.world.play('steady')
    await clock.advance(1_000)
    expect((await reply).body).toContain('There are 5')
  })

  it('calls onCommand with each command', async () => {
    const seen: string[] = []
    const server = await start({ onCommand: (command) => seen.push(command) })
    await exchange(server, 'list')
    expect(seen).toEqual(['list'])
  })

  it('can be interrupted, and listens on the same port again', async () => {
    const server = await start({ ports: await freeDemoPorts() })
    const client = await dial(server)
    await server.interrupt('rcon')
    await client.closed()
    await expect(dial(server)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await server.resume('rcon')
    expect(await exchange(server, 'list')).toContain('There are 5')
  })

  it.skipIf(!hasPythonModule('rcon'))('works with python3-rcon, which joins the pieces', async () => {
    const server = await start({ players: 300 })
    const { host, port } = server.rcon.address
    const script = `
import sys
from rcon.source import Client
with Client(sys.argv[1], int(sys.argv[2]), passwd=sys.argv[3], timeout=10) as client:
    sys.stdout.write(client.run('list', 'uuids'))
    sys.stdout.write('\\n' + client.run('difficulty'))
`
    const { stdout } = await run('/usr/bin/python3', ['-c', script, host, String(port), server.rcon.password])
    const players = server.world.players().map(({ name, id }) => `${name} (${id})`)
    expect(stdout).toBe(`There are 300 of a max of 300 players online: ${players.join(', ')}\nThe difficulty is Normal`)
  })
})
