import { ProtocolError } from '../error.ts'

/** The game's own limit for a frame: a length of 3 VarInt bytes (https://minecraft.wiki/w/Java_Edition_protocol/Packets). */
const maxFrameLength = 2_097_151

export interface Frame {
  readonly id: number
  /** The bytes after the packet id: a view of the received buffer. */
  readonly body: Buffer
}

/** Encodes a 32-bit integer as VarInt. Negative numbers take 5 bytes. */
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

/** Encodes a string as UTF-8, preceded by its length in bytes as VarInt. */
export function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([encodeVarInt(bytes.length), bytes])
}

/** Encodes one packet, preceded by its length. */
export function encodeFrame(id: number, ...parts: readonly Uint8Array[]): Buffer {
  const packet = Buffer.concat([encodeVarInt(id), ...parts])
  return Buffer.concat([encodeVarInt(packet.length), packet])
}

/**
 * Reads the VarInt at `offset`; returns it with the offset after it, or undefined if it is incomplete.
 * @throws ProtocolError if it is longer than 5 bytes
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

/** @throws ProtocolError if the string is incomplete */
export function readString(bytes: Buffer, offset: number): { value: string; next: number } {
  const length = readVarInt(bytes, offset)
  if (length === undefined || length.value < 0 || length.next + length.value > bytes.length) {
    throw new ProtocolError('malformed', 'a string is longer than its packet')
  }
  const next = length.next + length.value
  return { value: bytes.toString('utf8', length.next, next), next }
}

const nothing = Buffer.alloc(0)

/**
 * Assembles frames from chunks of any size. Buffers at most one frame and one chunk. Bytes are copied into one growing buffer,
 * because a list of chunks takes a hundred times the memory if a peer sends single bytes.
 * @param limit maximum length of a frame in bytes
 */
export class FrameReader {
  readonly #limit: number
  #held: Buffer = nothing
  #start = 0
  #end = 0
  #isOwn = false

  constructor(limit = maxFrameLength) {
    this.#limit = limit
  }

  /**
   * Adds received bytes. Call next() until it returns undefined before pushing more: next() enforces the limit, and keeps a copy of
   * an incomplete frame, so that the chunk may be reused.
   */
  push(chunk: Buffer): void {
    if (this.#start === this.#end) {
      this.#held = chunk
      this.#start = 0
      this.#end = chunk.length
      this.#isOwn = false
      return
    }
    if (!this.#isOwn || this.#held.length - this.#end < chunk.length) this.#copy(chunk.length)
    this.#end += chunk.copy(this.#held, this.#end)
  }

  /**
   * Returns the next complete frame, or undefined if more bytes are needed.
   * @throws ProtocolError `too_large` as soon as a length above the limit is read, `malformed` if it is not a frame
   */
  next(): Frame | undefined {
    const length = readVarInt(this.#held, this.#start, this.#end)
    if (length === undefined) return this.#wait()
    if (length.value < 1) throw new ProtocolError('malformed', `invalid frame length ${length.value}`)
    if (length.value > this.#limit) {
      throw new ProtocolError('too_large', `the frame length ${length.value} exceeds the limit of ${this.#limit} bytes`)
    }
    const frameEnd = length.next + length.value
    if (frameEnd > this.#end) return this.#wait()
    const id = readVarInt(this.#held, length.next, frameEnd)
    if (id === undefined) throw new ProtocolError('malformed', 'a frame ends within its packet id')
    this.#start = frameEnd
    return { id: id.value, body: this.#held.subarray(id.next, frameEnd) }
  }

  /** Copies the bytes into a separate buffer with room for more. */
  #copy(more: number): void {
    const length = this.#end - this.#start + more
    const room = Buffer.allocUnsafe(Math.max(length, Math.min(2 * length, this.#limit + 5)))
    this.#held.copy(room, 0, this.#start, this.#end)
    this.#held = room
    this.#end -= this.#start
    this.#start = 0
    this.#isOwn = true
  }

  #wait(): undefined {
    if (!this.#isOwn && this.#start < this.#end) this.#copy(0)
  }
}
