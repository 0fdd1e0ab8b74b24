import { ProtocolError } from './error.ts'

/** The game's own bound of a frame: a length of at most 3 VarInt bytes (https://minecraft.wiki/w/Java_Edition_protocol/Packets). */
const maxFrameLength = 2_097_151

export interface Frame {
  readonly id: number
  /** What follows the packet id; a view of the bytes received. */
  readonly body: Buffer
}

/** A 32-bit integer as VarInt; a negative one takes 5 bytes. */
export function encodeVarInt(value: number): Buffer {
  const bytes: number[] = []
  let rest = value >>> 0
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80)
    rest >>>= 7
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}

/** UTF-8 with its length in bytes as VarInt before it. */
export function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([encodeVarInt(bytes.length), bytes])
}

/** One packet with its length before it. */
export function encodeFrame(id: number, ...parts: readonly Uint8Array[]): Buffer {
  const packet = Buffer.concat([encodeVarInt(id), ...parts])
  return Buffer.concat([encodeVarInt(packet.length), packet])
}

/**
 * The VarInt at `offset` and the offset after it; undefined while it is not complete before `end`.
 * @throws ProtocolError when it is longer than 5 bytes
 */
export function readVarInt(bytes: Uint8Array, offset: number, end = bytes.length): { value: number; next: number } | undefined {
  let value = 0
  for (let index = 0; index < 5; index++) {
    const byte = offset + index < end ? bytes[offset + index] : undefined
    if (byte === undefined) return undefined
    value |= (byte & 0x7f) << (7 * index)
    if (byte < 0x80) return { value, next: offset + index + 1 }
  }
  throw new ProtocolError('malformed', 'a VarInt is longer than 5 bytes')
}

/** @throws ProtocolError when the text is not complete */
export function readString(bytes: Buffer, offset: number): { value: string; next: number } {
  const length = readVarInt(bytes, offset)
  if (length === undefined || length.value < 0 || length.next + length.value > bytes.length) {
    throw new ProtocolError('malformed', 'a text is longer than the packet that holds it')
  }
  const next = length.next + length.value
  return { value: bytes.toString('utf8', length.next, next), next }
}

export interface FrameReader {
  /** Takes bytes as they arrive. Take out every frame with next() before pushing more: next() is what keeps the bounds. */
  push(chunk: Buffer): void
  /**
   * The next complete frame, undefined when more bytes are needed.
   * @throws ProtocolError `too_large` as soon as a length beyond the limit is read, `malformed` for what is no frame
   */
  next(): Frame | undefined
}

const nothing = Buffer.alloc(0)

/**
 * Puts frames together from chunks of any size. Holds at most one frame and one chunk: bytes are copied into one buffer
 * that doubles, because a list of chunks costs a hundred times its bytes when a peer sends them one by one.
 * @param limit largest length that is accepted, in bytes
 */
export function createFrameReader(limit = maxFrameLength): FrameReader {
  let held: Buffer = nothing
  let start = 0
  let end = 0
  let owned = false

  return {
    push(chunk) {
      if (start === end) {
        held = chunk
        start = 0
        end = chunk.length
        owned = false
        return
      }
      if (!owned || held.length - end < chunk.length) {
        const length = end - start + chunk.length
        const room = Buffer.allocUnsafe(Math.max(length, Math.min(2 * length, limit + 5)))
        held.copy(room, 0, start, end)
        held = room
        end -= start
        start = 0
        owned = true
      }
      end += chunk.copy(held, end)
    },
    next() {
      const length = readVarInt(held, start, end)
      if (length === undefined) return undefined
      if (length.value < 1) throw new ProtocolError('malformed', `a frame claims a length of ${length.value} bytes`)
      if (length.value > limit) {
        throw new ProtocolError('too_large', `a frame claims ${length.value} bytes, more than the ${limit} allowed`)
      }
      const frameEnd = length.next + length.value
      if (frameEnd > end) return undefined
      const id = readVarInt(held, length.next, frameEnd)
      if (id === undefined) throw new ProtocolError('malformed', 'a frame ends within its packet id')
      start = frameEnd
      return { id: id.value, body: held.subarray(id.next, frameEnd) }
    },
  }
}
