import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createCommandLine } from '../../src/demo/commands.ts'
import { findEra } from '../../src/demo/eras.ts'
import { createWorld } from '../../src/demo/world.ts'
import { encodeFrame, encodeString } from '../../src/game/protocol/status/frames.ts'
import { systemClock } from '../../src/util/clock.ts'
import { indexOf } from './hosts.ts'
import { iconOf } from './icons.ts'

// Thousands of game servers in one process: a status listener and an RCON listener on every address of this machine. A server is
// identified by the address that the client has connected to. As cheap as possible, because the client is measured.

/** The player count changes once per this many polls. */
const changeEvery = 10
const handshakeLength = 7
const ping = 9

interface GameServer {
  readonly reply: Buffer
  /** Position of the three digits of the player count. */
  readonly countAt: number
  polls: number
}

function createGameServer(index: number, distinctIcons: number): GameServer {
  const json = JSON.stringify({
    description: { text: `Game server ${index} of many` },
    players: { max: 1_000, online: 100 + (index % 900) },
    version: { name: 'Paper 1.21.11', protocol: 774 },
    enforcesSecureChat: true,
    favicon: `data:image/png;base64,${iconOf(index, distinctIcons).toString('base64')}`,
  })
  const reply = encodeFrame(0, encodeString(json))
  return { reply, countAt: reply.indexOf('"online":') + '"online":'.length, polls: 0 }
}

const servers = new Map<number, GameServer>()
const distinctIcons = Number(process.argv[2] ?? 0)
let polls = 0

function serverAt(host: string | undefined): GameServer {
  const index = indexOf(host ?? '')
  const before = servers.get(index)
  if (before !== undefined) return before
  const made = createGameServer(index, distinctIcons)
  servers.set(index, made)
  return made
}

/** The client sends the handshake with the request at once, then the ping: a packet of nine bytes after its length. */
function answerStatus(socket: Socket): void {
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    if (chunk[0] === ping && chunk[1] === 1) socket.write(chunk)
    else if (chunk.length > handshakeLength) {
      const server = serverAt(socket.localAddress)
      polls++
      if (++server.polls % changeEvery === 0) server.reply.write(String(100 + (server.polls % 900)), server.countAt)
      socket.write(server.reply)
    }
  })
}

const identity = {
  era: findEra('1.21.11')!,
  software: 'vanilla',
  motd: '',
  decimalComma: false,
} as const
const world = createWorld({ clock: systemClock, seed: 1, scenario: 'steady', players: 5, maxPlayers: 20, pauseWhenEmpty: -1 })
const commandLine = createCommandLine(world, identity)

/** Accepts any password. */
function answerRcon(socket: Socket): void {
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    for (let at = 0; at + 14 <= chunk.length; at += chunk.readInt32LE(at) + 4) {
      // Not RCON: a program that looks for servers on this machine, as `tickwarden init` does.
      if (chunk.readInt32LE(at) < 10) {
        socket.destroy()
        return
      }
      const type = chunk.readInt32LE(at + 8)
      const end = chunk.indexOf(0, at + 12)
      const text = Buffer.from(type === 2 ? commandLine(chunk.toString('utf8', at + 12, end)) : '')
      const packet = Buffer.alloc(14 + text.length)
      packet.writeInt32LE(10 + text.length, 0)
      packet.writeInt32LE(chunk.readInt32LE(at + 4), 4)
      packet.writeInt32LE(type === 3 ? 2 : 0, 8)
      text.copy(packet, 12)
      socket.write(packet)
    }
  })
}

async function listen(server: Server): Promise<number> {
  server.listen({ host: '0.0.0.0', port: 0, backlog: 4_096 })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

process.on('message', () => process.send?.({ polls }))
process.on('disconnect', () => process.exit())
process.send?.({ status: await listen(createServer(answerStatus)), rcon: await listen(createServer(answerRcon)) })
