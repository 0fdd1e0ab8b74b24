import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { freePort } from './run-tool.ts'

export const alice = { name: 'Alice', id: 'ec561538-f3fd-461d-aff5-086b22154bce' }
export const bob = { name: 'Bob', id: '61699b2e-d327-4a01-9f1e-0ea8c3f06bc6' }

/** The results of a server of 1.21.9 or later by method; a function is called, a missing method is unknown. */
export const answers = (): Record<string, unknown> => ({
  'minecraft:players': [alice],
  'minecraft:server/status': { started: true, players: [alice], version: { name: '1.21.11', protocol: 774 } },
  'minecraft:serversettings/game_mode': { mode: 'adventure' },
  'minecraft:serversettings/motd': { message: '§aA Minecraft Server' },
  'minecraft:serversettings/max_players': { max: 20 },
  'minecraft:serversettings/pause_when_empty_seconds': { seconds: 60 },
  'minecraft:serversettings/difficulty': { difficulty: 'easy' },
  'minecraft:serversettings/view_distance': { distance: 10 },
})

export interface ManagementServer {
  readonly url: string
  readonly port: number
  readonly secret: string
  /** By method: a result, an Error with a code, or 'silent'. */
  results: Record<string, unknown>
  /** Called methods, in order. */
  readonly called: string[]
  /** The upgrade requests received, with their authorization. */
  readonly authorizations: (string | undefined)[]
  readonly sockets: ReadonlySet<WebSocket>
  notify(method: string, params?: unknown): void
  send(text: string): void
  close(): Promise<void>
}

export async function managementServer(
  tls?: { readonly key: Buffer; readonly cert: Buffer },
  port?: number,
): Promise<ManagementServer> {
  const secret = 'a'.repeat(40)
  const http = tls ? createSecureServer(tls) : createServer()
  const wss = new WebSocketServer({ noServer: true })
  const called: string[] = []
  const authorizations: (string | undefined)[] = []
  http.on('upgrade', (request, socket, head) => {
    authorizations.push(request.headers.authorization)
    if (request.headers.authorization !== `Bearer ${secret}`) {
      const body = '{"error":"Unauthorized"}'
      socket.end(`HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      return
    }
    wss.handleUpgrade(request, socket, head, (ws) => wss.emit('connection', ws, request))
  })
  wss.on('connection', (ws) => {
    ws.on('error', () => {})
    ws.on('message', (data) => {
      const { id, method } = JSON.parse(String(data)) as { id: number; method: string }
      called.push(method)
      const result = server.results[method]
      if (result === 'silent') return
      const error =
        result === undefined
          ? { code: -32601, message: 'Method not found' }
          : result instanceof Error
            ? { code: -32603, message: result.message }
            : undefined
      ws.send(JSON.stringify({ jsonrpc: '2.0', id, ...(error ? { error } : { result }) }))
    })
  })
  http.listen(port ?? (await freePort()), '127.0.0.1')
  await once(http, 'listening')
  const bound = (http.address() as AddressInfo).port
  const toAll = (text: string) => {
    for (const ws of wss.clients) ws.send(text)
  }
  const server: ManagementServer = {
    url: `${tls ? 'wss' : 'ws'}://127.0.0.1:${bound}`,
    port: bound,
    secret,
    results: answers(),
    called,
    authorizations,
    sockets: wss.clients,
    notify: (method, params) => toAll(JSON.stringify({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) })),
    send: toAll,
    async close() {
      for (const ws of wss.clients) ws.terminate()
      http.close()
      if ('closeAllConnections' in http) http.closeAllConnections()
      await once(http, 'close')
    },
  }
  return server
}
