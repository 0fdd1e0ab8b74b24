import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { DemoIdentity, DemoOptions, Game } from './identity.ts'
import { answerJsonRpc } from './json-rpc.ts'
import { type Listener, listen } from './listen.ts'
import type { World, WorldEvent } from './world.ts'

const maxMessage = 65_536
/** Maximum number of messages of one client that wait for the main thread. */
const maxWaiting = 100
/** A client with more unread bytes than this is disconnected. */
const maxUnreadBytes = 4_194_304

const unauthorized = JSON.stringify({ error: 'Unauthorized', message: 'Missing or wrong bearer token' })
const refusal = `HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: ${unauthorized.length}\r\nConnection: close\r\n\r\n${unauthorized}`

/** The methods that read; the others are not implemented, so that the demo is the same for every client. */
function methodsOf(world: World, { era, motd }: DemoIdentity): ReadonlyMap<string, () => unknown> {
  const info = { title: 'Minecraft Server JSON-RPC', version: era.management }
  const settings = 'minecraft:serversettings/'
  const players = () => world.players().map(({ name, id }) => ({ id, name }))
  const version = { name: era.version, protocol: era.protocol }
  // Like the game, without `players` if no players are online.
  const status = () => ({ ...(players().length > 0 && { players: players() }), started: true, version })
  const methods: ReadonlyMap<string, () => unknown> = new Map<string, () => unknown>([
    ['rpc.discover', () => ({ openrpc: '1.3.2', info, methods: describe(), components: { schemas: {} } })],
    ['minecraft:players', players],
    ['minecraft:server/status', status],
    [`${settings}difficulty`, () => 'normal'],
    [`${settings}game_mode`, () => 'survival'],
    [`${settings}max_players`, () => world.maxPlayers],
    [`${settings}motd`, () => motd],
    [`${settings}pause_when_empty_seconds`, () => world.pauseWhenEmpty],
    [`${settings}view_distance`, () => 10],
  ])
  const describe = () => [...methods.keys()].map((name) => ({ name, params: [], result: { name: 'result', schema: {} } }))
  return methods
}

/**
 * Serves the management protocol: JSON-RPC 2.0 over WebSocket with a bearer secret and notifications.
 * @see https://minecraft.wiki/w/Minecraft_Server_Management_Protocol
 * @returns undefined if the era has no such protocol
 */
export async function listenManagement(
  host: string,
  port: number,
  { world, identity }: Game,
  secret: string,
  { notificationParams = 'array', managementTls: tls }: DemoOptions,
): Promise<Listener | undefined> {
  if (identity.era.management === undefined) return undefined
  const methods = methodsOf(world, identity)
  const server = tls ? createTlsServer(tls) : createServer()
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessage, perMessageDeflate: false })

  function send(client: WebSocket, text: string): void {
    if (client.bufferedAmount > maxUnreadBytes) client.terminate()
    else client.send(text)
  }

  function notify(event: string, name?: string, value?: unknown): void {
    const params = name === undefined ? {} : { params: notificationParams === 'array' ? [value] : { [name]: value } }
    const text = JSON.stringify({ jsonrpc: '2.0', method: `minecraft:notification/${event}`, ...params })
    for (const client of sockets.clients) send(client, text)
  }

  function handleEvent(event: WorldEvent): void {
    if ('player' in event) notify(`players/${event.type}`, 'player', { id: event.player.id, name: event.player.name })
    else notify(`server/${event.type}`)
  }

  function accept(client: WebSocket): void {
    client.on('error', () => client.terminate())
    let waiting = 0
    client.on('message', (data, isBinary) => {
      if (isBinary) return client.close(1003)
      if (++waiting > maxWaiting) return client.terminate()
      const text = data.toString()
      world.whenFree(() => {
        waiting--
        const answer = answerJsonRpc(text, methods)
        if (answer !== undefined) send(client, answer)
      })
    })
  }

  server.headersTimeout = 10_000
  server.on('request', (_request, response) => response.writeHead(426, { connection: 'close' }).end())
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    // Not in constant time: it protects only simulated values.
    if (request.headers.authorization === `Bearer ${secret}`) sockets.handleUpgrade(request, socket, head, accept)
    else socket.end(refusal, () => setTimeout(() => socket.destroy(), 1_000).unref())
  })
  const listener = await listen(server, host, port)
  const unsubscribe = world.subscribe(handleEvent)

  return {
    port: listener.port,
    async close() {
      unsubscribe()
      notify('server/stopping')
      const closed = [...sockets.clients].map((client) => once(client, 'close'))
      for (const client of sockets.clients) client.close(1001, 'Server stopping')
      const timeout = AbortSignal.timeout(300)
      await Promise.race([Promise.all(closed), once(timeout, 'abort')])
      await listener.close()
    },
  }
}
