import dgram from 'node:dgram'
import { once } from 'node:events'

/** What tells RakNet's unconnected messages from others. */
export const magic = Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex')

/** What a Bedrock server answers a ping with. */
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

/** A UDP server on loopback that answers each ping with what `answer` says; it ends with the test. */
export async function bedrockServer(answer: (reply: (bytes: Buffer) => void) => void, host = '127.0.0.1') {
  const socket = dgram.createSocket(host.includes(':') ? 'udp6' : 'udp4')
  const pings: Buffer[] = []
  socket.on('message', (message, from) => {
    pings.push(message)
    answer((bytes) => socket.send(bytes, from.port, from.address))
  })
  socket.bind(0, host)
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
