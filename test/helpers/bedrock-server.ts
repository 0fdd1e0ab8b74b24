import dgram from 'node:dgram'
import { once } from 'node:events'
import { freePort } from './run-tool.ts'

/** Marks RakNet's unconnected messages. */
export const magic = Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex')

/** An unconnected pong with this text. */
export function pong(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([
    Buffer.from([0x1c]),
    Buffer.alloc(16),
    magic,
    Buffer.from([bytes.length >> 8, bytes.length & 0xff]),
    bytes,
  ])
}

/** A UDP server on loopback that calls `answer` for each ping. */
export async function bedrockServer(answer: (reply: (bytes: Buffer) => void, ping: Buffer) => void, host = '127.0.0.1') {
  const socket = dgram.createSocket(host.includes(':') ? 'udp6' : 'udp4')
  const pings: Buffer[] = []
  socket.on('message', (message, from) => {
    pings.push(message)
    answer((bytes) => socket.send(bytes, from.port, from.address), message)
  })
  socket.bind(await freePort(), host)
  await once(socket, 'listening')
  return {
    port: socket.address().port,
    pings,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
}
