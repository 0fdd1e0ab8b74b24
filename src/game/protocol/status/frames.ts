import { ProtocolError } from '../error.ts'
import { FrameBuffer } from '../frame-buffer.ts'

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

/**
 * Reads the frames of the status. Throws a ProtocolError `too_large` as soon as a length above the limit is read, and `malformed` for
 * what is not a frame.
 * @param limit maximum length of a frame in bytes
 */
export class FrameReader extends FrameBuffer<Frame> {
  readonly #limit: number

  constructor(limit = maxFrameLength) {
    // The length is a VarInt.
    super(limit + 5)
    this.#limit = limit
  }

  protected override endOf(bytes: Buffer, start: number, end: number): number | undefined {
    const length = readVarInt(bytes, start, end)
    if (length === undefined) return undefined
    if (length.value < 1) throw new ProtocolError('malformed', `invalid frame length ${length.value}`)
    if (length.value > this.#limit) {
      throw new ProtocolError('too_large', `the frame length ${length.value} exceeds the limit of ${this.#limit} bytes`)
    }
    return length.next + length.value
  }

  protected override decode(bytes: Buffer, start: number, end: number): Frame {
    const id = readVarInt(bytes, readVarInt(bytes, start)?.next ?? end, end)
    if (id === undefined) throw new ProtocolError('malformed', 'a frame ends within its packet id')
    return { id: id.value, body: bytes.subarray(id.next, end) }
  }
}
