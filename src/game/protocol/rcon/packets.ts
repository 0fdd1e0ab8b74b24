import { ProtocolError } from '../error.ts'
import { FrameBuffer } from '../frame-buffer.ts'
import { isRconCommand, type RconCommand } from './commands.ts'

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

/** Bytes of the length. */
const lengthField = 4
/** Bytes of id, type and the two NULs. */
const overhead = 10

/** A piece takes at most 12,298 bytes. The limit is higher for servers that do not split replies. */
export const maxPacketLength = 65_536

/** @throws RangeError if the body is longer than the game reads */
export function encodeRconPacket({ id, type, body }: RconPacket, maxBody = maxSentBody): Buffer {
  const size = Buffer.byteLength(body)
  if (size > maxBody) throw new RangeError(`the body of an RCON packet must not exceed ${maxBody} bytes, got ${size}`)
  const packet = Buffer.allocUnsafe(lengthField + overhead + size)
  packet.writeInt32LE(overhead + size, 0)
  packet.writeInt32LE(id, 4)
  packet.writeInt32LE(type, 8)
  packet.write(body, 12)
  packet.writeUInt16LE(0, 12 + size)
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

/** Pushes a chunk and yields the packets that are complete. Throws like next(). */
export function* decodeChunk(decoder: RconDecoder, chunk: Buffer): Generator<RconPacket> {
  decoder.push(chunk)
  for (let packet = decoder.next(); packet !== undefined; packet = decoder.next()) yield packet
}

/** Decodes packets. Throws a ProtocolError if a length is below 10 or above maxPacketLength, or the closing NULs are missing. */
export class RconDecoder extends FrameBuffer<RconPacket> {
  constructor() {
    super(lengthField + maxPacketLength)
  }

  protected override endOf(bytes: Buffer, start: number, end: number): number | undefined {
    if (end - start < lengthField) return undefined
    const length = bytes.readInt32LE(start)
    if (length < overhead || length > maxPacketLength) throw new ProtocolError('malformed', `invalid packet length ${length}`)
    return start + lengthField + length
  }

  protected override decode(bytes: Buffer, start: number, end: number): RconPacket {
    if (bytes.readUInt16LE(end - 2) !== 0) throw new ProtocolError('malformed', 'the packet does not end with two NULs')
    return {
      id: bytes.readInt32LE(start + 4),
      type: bytes.readInt32LE(start + 8),
      body: bytes.toString('utf8', start + 12, end - 2),
    }
  }
}
