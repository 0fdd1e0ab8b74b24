import { randomInt } from 'node:crypto'
import type { RemoteInfo } from 'node:dgram'
import type { Game } from './identity.ts'
import { type Listener, listenUdp } from './listen.ts'

const kinds = { stat: 0, challenge: 9 } as const
/** As in the game. */
const tokenLifetimeMs = 30_000
/** When there are more tokens than this, all of them are dropped. */
const maxTokens = 1_000

/**
 * Serves the UDP query (GameSpy 4). Requests without a valid token get no reply, so that it cannot be used for amplification attacks.
 * @see https://minecraft.wiki/w/Query
 */
export function listenQuery(host: string, port: number, game: Game, gamePort: number): Promise<Listener> {
  const { world, clock } = game
  const { era, software, motd } = game.identity
  const tokens = new Map<string, { readonly token: number; readonly at: number }>()
  const text = (value: string | number) => Buffer.concat([Buffer.from(String(value), era.queryEncoding), Buffer.from([0])])
  const plugins = `Paper on ${era.version}-R0.1-SNAPSHOT: DemoWorld 1.0.0; DemoShops 2.3`

  function basic(): Buffer {
    const head = [motd, 'SMP', 'world', world.players().length, world.maxPlayers].map(text)
    const portBytes = Buffer.alloc(2)
    portBytes.writeUInt16LE(gamePort)
    return Buffer.concat([...head, portBytes, text(host)])
  }

  function full(): Buffer {
    const players = world.players()
    const rules = {
      hostname: motd,
      gametype: 'SMP',
      game_id: 'MINECRAFT',
      version: era.version,
      plugins: software === 'paper' ? plugins : '',
      map: 'world',
      numplayers: players.length,
      maxplayers: world.maxPlayers,
      hostport: gamePort,
      hostip: host,
    }
    return Buffer.concat([
      text('splitnum'),
      Buffer.from([0x80, 0]),
      ...Object.entries(rules).flatMap(([key, value]) => [text(key), text(value)]),
      Buffer.from([0, 1]),
      text('player_'),
      Buffer.from([0]),
      ...players.map(({ name }) => text(name)),
      Buffer.from([0]),
    ])
  }

  function answer(request: Buffer, client: RemoteInfo): Buffer | undefined {
    const from = `${client.address} ${client.port}`
    if (request.length < 7 || request.readUInt16BE(0) !== 0xfefd) return undefined
    const kind = request[2]
    const session = request.subarray(3, 7)
    const reply = (body: Buffer) => Buffer.concat([Buffer.from([kind ?? 0]), session, body])
    if (kind === kinds.challenge) {
      if (tokens.size >= maxTokens) tokens.clear()
      const token = randomInt(1, 16_777_216)
      tokens.set(from, { token, at: clock.now() })
      return reply(text(token))
    }
    const known = tokens.get(from)
    if (kind !== kinds.stat || request.length < 11 || known === undefined) return undefined
    if (clock.now() - known.at >= tokenLifetimeMs || request.readInt32BE(7) !== known.token) return undefined
    return reply(request.length === 15 ? full() : basic())
  }

  return listenUdp(host, port, answer)
}
