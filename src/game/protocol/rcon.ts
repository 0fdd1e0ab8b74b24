import { ProtocolError } from './error.ts'
import { isRconCommand, type RconCommand } from './rcon-commands.ts'

/**
 * An RCON packet (https://minecraft.wiki/w/RCON; game class RconClient): i32LE length of the rest, i32LE id, i32LE type, UTF-8 body,
 * two NULs.
 */
export interface RconPacket {
  readonly id: number
  readonly type: number
  readonly body: string
}

export const rconType = { reply: 0, command: 2, loginReply: 2, login: 3, endMark: 100 } as const

/** The game splits a reply into pieces of this many UTF-16 units. */
export const fullPiece = 4096

/** The game reads at most 1460 bytes at a time and expects exactly one packet in them. */
export const maxSentBody = 1446

/** Bytes of id, type and the two NULs. */
const overhead = 10

/** A piece takes at most 12,298 bytes. The limit is higher for servers that do not split replies. */
export const maxPacketLength = 65_536

/** @throws RangeError if the body is longer than the game reads */
export function encodeRconPacket({ id, type, body }: RconPacket, maxBody = maxSentBody): Buffer {
  const size = Buffer.byteLength(body)
  if (size > maxBody) throw new RangeError(`the body of an RCON packet must not exceed ${maxBody} bytes, got ${size}`)
  const packet = Buffer.alloc(4 + overhead + size)
  packet.writeInt32LE(overhead + size, 0)
  packet.writeInt32LE(id, 4)
  packet.writeInt32LE(type, 8)
  packet.write(body, 12)
  return packet
}

export const encodeLogin = (id: number, password: string): Buffer =>
  encodeRconPacket({ id, type: rconType.login, body: password })

/** @throws TypeError if the command is not in the list of allowed commands */
export function encodeCommand(id: number, command: RconCommand): Buffer {
  if (!isRconCommand(command)) throw new TypeError('the command is not in the list of allowed commands')
  return encodeRconPacket({ id, type: rconType.command, body: command })
}

/** A packet of an unknown type: the server replies `Unknown request 64` after all pieces of the previous reply. */
export const encodeEndMark = (id: number): Buffer => encodeRconPacket({ id, type: rconType.endMark, body: '' })

export interface RconDecoder {
  /**
   * Adds received bytes and yields the packets that are complete.
   * @throws ProtocolError if a length is below 10 or above maxPacketLength, or the closing NULs are missing
   */
  push(chunk: Uint8Array): Iterable<RconPacket>
}

/** Copies each byte once, into a buffer of the packet's size, which is allocated only after the length was checked. */
export function createRconDecoder(): RconDecoder {
  let target = Buffer.allocUnsafe(4)
  let filled = 0
  let inPacket = false
  return {
    *push(chunk) {
      for (let offset = 0; offset < chunk.length; ) {
        const part = chunk.subarray(offset, offset + target.length - filled)
        target.set(part, filled)
        filled += part.length
        offset += part.length
        if (filled < target.length) return
        const whole = target
        filled = 0
        inPacket = !inPacket
        target = Buffer.allocUnsafe(inPacket ? checkedLength(whole) : 4)
        if (!inPacket) yield toPacket(whole)
      }
    },
  }
}

function checkedLength(bytes: Buffer): number {
  const length = bytes.readInt32LE()
  if (length < overhead || length > maxPacketLength) throw new ProtocolError('malformed', `invalid packet length ${length}`)
  return length
}

function toPacket(bytes: Buffer): RconPacket {
  const end = bytes.length - 2
  if (bytes.readUInt16LE(end) !== 0) throw new ProtocolError('malformed', 'the packet does not end with two NULs')
  return { id: bytes.readInt32LE(0), type: bytes.readInt32LE(4), body: bytes.toString('utf8', 8, end) }
}
