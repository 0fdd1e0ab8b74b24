import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ServerAddress } from '../util/address.ts'
import type { Clock } from '../util/clock.ts'
import { createWorld, type World } from './world.ts'

export interface BedrockDemoOptions {
  readonly host: string
  /** The same port for UDP and TCP; 0 for a free one. */
  readonly port: number
  readonly clock: Clock
  readonly players: number
  readonly seed: number
}

/** A Bedrock server with both transports: RakNet over UDP, and NetherNet over TCP on the same port. */
export interface BedrockDemoServer {
  readonly address: ServerAddress
  readonly world: World
  /** May be called more than once. */
  close(): Promise<void>
}

const magic = Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex')
const identity = { name: 'Tickwarden demo server', level: 'Bedrock level', protocol: 1001, version: '1.26.60' } as const

/** The reply to an unconnected ping: packet id, time of the ping, GUID, magic, length of the text, text. */
function encodePong(ping: Buffer, world: World): Buffer {
  const { name, level, protocol, version } = identity
  const players = `${world.players().length};${world.maxPlayers}`
  const text = Buffer.from(`MCPE;${name};${protocol};${version};${players};1;${level};Survival;1;19132;19133;`)
  const length = Buffer.from([text.length >> 8, text.length & 0xff])
  return Buffer.concat([Buffer.from([0x1c]), ping.subarray(1, 9), Buffer.alloc(8, 1), magic, length, text])
}

const joinReply = (world: World): string =>
  JSON.stringify({ ...identity, players: world.players().length, maxPlayers: world.maxPlayers, gameType: 0 })

/** @throws the system error if the port is not available */
export async function startBedrockDemoServer({
  host,
  port,
  clock,
  players,
  seed,
}: BedrockDemoOptions): Promise<BedrockDemoServer> {
  const maxPlayers = Math.max(20, players)
  const world = createWorld({ clock, seed, scenario: 'normal', players, maxPlayers, pauseWhenEmpty: -1 })
  const http = createServer((request, reply) => {
    const found = request.method === 'GET' && request.url === '/v1/join'
    reply.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(found ? joinReply(world) : '')
  })
  const udp = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  udp.on('message', (ping, from) => {
    if (ping[0] === 0x01 && ping.subarray(9, 25).equals(magic)) udp.send(encodePong(ping, world), from.port, from.address)
  })
  let closing: Promise<void> | undefined
  const close = async () => {
    world.close()
    http.closeAllConnections()
    const closed = http.listening ? once(http, 'close') : undefined
    http.close()
    await closed
    await new Promise<void>((resolve) => udp.close(resolve))
  }
  try {
    http.listen(port, host)
    await once(http, 'listening')
    const chosen = (http.address() as AddressInfo).port
    udp.bind(chosen, host)
    await once(udp, 'listening')
    return {
      address: { edition: 'bedrock', host, port: chosen },
      world,
      close() {
        closing ??= close()
        return closing
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
