import { ProtocolError } from '../error.ts'
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

const nothing = Buffer.alloc(0)

/**
 * Decodes packets in place. Only one that is not whole in its chunk is copied, into a buffer of its checked length. A class to save
 * memory: one is created for each connection.
 */
export class RconDecoder {
  #chunk: Buffer = nothing
  #offset = 0
  /** The first bytes of a packet: its length field, or the whole packet once its length is known. */
  #begun: Buffer | undefined
  #filled = 0

  /** Adds received bytes. Call next() until it returns undefined before pushing more; then the chunk may be reused. */
  push(chunk: Buffer): void {
    this.#chunk = chunk
    this.#offset = 0
  }

  /**
   * Returns the next packet, or undefined if more bytes are needed.
   * @throws ProtocolError if a length is below 10 or above maxPacketLength, or the closing NULs are missing
   */
  next(): RconPacket | undefined {
    const chunk = this.#chunk
    while (this.#offset < chunk.length) {
      if (this.#begun === undefined) {
        const start = this.#offset
        const end = endOfPacket(chunk, start)
        if (end <= chunk.length) {
          this.#offset = end
          return toPacket(chunk, start, end)
        }
        this.#begun = Buffer.allocUnsafe(lengthField)
        this.#filled = 0
      }
      const packet = this.#complete(this.#begun)
      if (packet !== undefined) return packet
    }
    this.#chunk = nothing
    return undefined
  }

  /** Adds bytes of the chunk to a packet that is not whole. */
  #complete(begun: Buffer): RconPacket | undefined {
    const copied = this.#chunk.copy(begun, this.#filled, this.#offset)
    this.#filled += copied
    this.#offset += copied
    if (this.#filled < begun.length) return undefined
    const end = endOfPacket(begun, 0)
    if (this.#filled < end) {
      this.#begun = Buffer.allocUnsafe(end)
      begun.copy(this.#begun)
      return undefined
    }
    this.#begun = undefined
    return toPacket(begun, 0, end)
  }
}

/** Returns the offset after the packet that begins at `start`; Infinity if its length field is not complete. */
function endOfPacket(bytes: Buffer, start: number): number {
  if (bytes.length - start < lengthField) return Number.POSITIVE_INFINITY
  const length = bytes.readInt32LE(start)
  if (length < overhead || length > maxPacketLength) throw new ProtocolError('malformed', `invalid packet length ${length}`)
  return start + lengthField + length
}

function toPacket(bytes: Buffer, start: number, end: number): RconPacket {
  if (bytes.readUInt16LE(end - 2) !== 0) throw new ProtocolError('malformed', 'the packet does not end with two NULs')
  return {
    id: bytes.readInt32LE(start + 4),
    type: bytes.readInt32LE(start + 8),
    body: bytes.toString('utf8', start + 12, end - 2),
  }
}
