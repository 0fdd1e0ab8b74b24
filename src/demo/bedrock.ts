import { createServer } from 'node:http'
import type { HostPort, ServerAddress } from '../util/address.ts'
import { type Listener, listen, listenUdp } from './listen.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

const magic = Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex')
const identity = { name: 'Tickwarden demo server', level: 'Bedrock level', protocol: 1001, version: '1.26.60' } as const

const isPing = (bytes: Buffer): boolean => bytes[0] === 0x01 && bytes.subarray(9, 25).equals(magic)

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

/**
 * Starts a Bedrock server with both transports: RakNet over UDP, and NetherNet over TCP on the same port.
 * @param given `port`: 0 for a free one
 * @throws the system error if the port is not available
 */
export async function startBedrockDemoServer(
  given: HostPort & Pick<WorldOptions, 'clock' | 'players' | 'seed'>,
): Promise<{ readonly address: ServerAddress; close(): Promise<void> }> {
  const { host, port, ...options } = given
  const maxPlayers = Math.max(20, options.players)
  const world = createWorld({ ...options, scenario: 'normal', maxPlayers, pauseWhenEmpty: -1 })
  const http = createServer((request, reply) => {
    const found = request.method === 'GET' && request.url === '/v1/join'
    reply.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(found ? joinReply(world) : '')
  })
  const listeners: Listener[] = []
  async function close(): Promise<void> {
    world.close()
    await Promise.all(listeners.splice(0).map((listener) => listener.close()))
  }
  try {
    const netherNet = await listen(http, host, port)
    listeners.push(netherNet)
    listeners.push(await listenUdp(host, netherNet.port, (ping) => (isPing(ping) ? encodePong(ping, world) : undefined)))
    return { address: { edition: 'bedrock', host, port: netherNet.port }, close }
  } catch (error) {
    await close()
    // A port that is free for TCP may be in use for UDP.
    if (port === 0 && (error as NodeJS.ErrnoException).code === 'EADDRINUSE') return startBedrockDemoServer(given)
    throw error
  }
}
