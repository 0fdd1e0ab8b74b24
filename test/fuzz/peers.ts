// Servers on loopback that reply with the input, for what cannot be read without a connection. Started for the first input.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'
import net from 'node:net'
import { WebSocketServer } from 'ws'

const host = '127.0.0.1'

/** Starts a server, which does not keep the process running. */
function peer<Input>(listen: (input: () => Input) => Promise<number>) {
  let current: Input
  let port: Promise<number> | undefined
  return async (input: Input): Promise<number> => {
    current = input
    port ??= listen(() => current)
    return port
  }
}

async function listen(server: net.Server): Promise<number> {
  server.listen(0, host).unref()
  await once(server, 'listening')
  return (server.address() as net.AddressInfo).port
}

/** Replies to the requests of a connection, numbered from 0, until `reply` returns nothing. */
export const tcpPeer = <Input>(reply: (input: Input, request: Buffer, number: number) => Buffer | undefined) =>
  peer<Input>(async (input) => {
    const server = net.createServer((socket) => {
      let number = 0
      socket.on('error', () => {})
      socket.on('data', (request) => {
        const bytes = reply(input(), request, number++)
        if (bytes === undefined) socket.end()
        else socket.write(bytes)
      })
    })
    return listen(server)
  })

export const udpPeer = <Input>(reply: (input: Input, request: Buffer) => Buffer) =>
  peer<Input>(async (input) => {
    const socket = createSocket('udp4')
    socket.on('message', (request, { address, port }) => socket.send(reply(input(), request), port, address))
    socket.bind(0, host).unref()
    await once(socket, 'listening')
    return socket.address().port
  })

export const httpPeer = (status = 200, reply = (input: string, _url: string) => input) =>
  peer<string>((input) =>
    listen(
      createServer((request, response) => {
        request.resume()
        response.writeHead(status, { 'content-type': 'application/json' }).end(reply(input(), request.url ?? ''))
      }),
    ),
  )

export const webSocketPeer = (reply: (input: string, request: string) => string) =>
  peer<string>((input) => {
    const server = createServer()
    new WebSocketServer({ server }).on('connection', (socket) => {
      socket.on('error', () => {})
      socket.on('message', (request) => socket.send(reply(input(), String(request))))
    })
    return listen(server)
  })
