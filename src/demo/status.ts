import { createServer, type Socket } from 'node:net'
import type { Game } from './identity.ts'
import { type Listener, listen } from './listen.ts'
import { createStatusJson } from './status-json.ts'

/** The longest frame that a client needs: a handshake with a long host name. */
const maxFrameBytes = 4_096
/** Maximum duration of a connection in milliseconds. */
const connectionTimeoutMs = 30_000

function varInt(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

function textFrame(id: number, text: string): Buffer {
  const bytes = Buffer.from(text)
  const packet = Buffer.concat([varInt(id), varInt(bytes.length), bytes])
  return Buffer.concat([varInt(packet.length), packet])
}

/** Reads a VarInt of at most `maxBytes`; `bad` if it is longer, undefined if it is incomplete. */
function readVarInt(bytes: Buffer, offset: number, maxBytes: number): { value: number; end: number } | 'bad' | undefined {
  let value = 0
  for (let index = 0; index < maxBytes; index++) {
    const byte = bytes[offset + index]
    if (byte === undefined) return undefined
    value |= (byte & 0x7f) << (7 * index)
    if (byte < 0x80) return { value, end: offset + index + 1 }
  }
  return 'bad'
}

/** Returns the next state of a handshake: 1 status, 2 login, 3 transfer; undefined if it is not a handshake. */
function requestedState(packet: Buffer): number | undefined {
  const protocol = readVarInt(packet, 1, 5)
  if (packet[0] !== 0 || protocol === undefined || protocol === 'bad') return undefined
  const host = readVarInt(packet, protocol.end, 3)
  if (host === undefined || host === 'bad') return undefined
  const state = host.end + host.value + 2
  return state === packet.length - 1 ? packet[state] : undefined
}

const notPlayable = JSON.stringify({ text: 'This is a demo server: it can be watched, but not played on.' })

/**
 * Serves Server List Ping. A login is rejected with a message.
 * @see https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping
 */
export function listenStatus(host: string, port: number, game: Game): Promise<Listener> {
  const build = createStatusJson(game)

  function answer(socket: Socket): void {
    let received = Buffer.alloc(0)
    let state = 0

    function packet(body: Buffer): void {
      if (state === 0) {
        state = requestedState(body) ?? -1
        if (state < 1 || state > 3) socket.destroy()
      } else if (state !== 1) {
        socket.end(textFrame(0, notPlayable))
      } else if (body[0] === 0 && body.length === 1) {
        // Sent by the network thread, so it is not delayed while the world lags.
        socket.write(textFrame(0, build()))
      } else if (body[0] === 1 && body.length === 9) {
        socket.end(Buffer.concat([varInt(body.length), body]))
      } else {
        socket.destroy()
      }
    }

    socket.on(
      'close',
      game.clock.after(connectionTimeoutMs, () => socket.destroy()),
    )
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      while (!socket.destroyed && !socket.writableEnded) {
        const length = readVarInt(received, 0, 3)
        if (length === undefined) break
        if (length === 'bad' || length.value < 1 || length.value > maxFrameBytes) return void socket.destroy()
        const end = length.end + length.value
        if (received.length < end) break
        packet(received.subarray(length.end, end))
        received = received.subarray(end)
      }
    })
  }

  return listen(createServer({ noDelay: true }, answer), host, port)
}
