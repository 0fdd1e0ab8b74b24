import { crc32 } from 'node:zlib'
import { type ByteReader, createByteReader, createByteWriter } from './bytes.ts'
import { decode16, encode16 } from './decimal16.ts'
import { levels } from './levels.ts'
import { type SeriesName, seriesNames } from './series.ts'
import type { SessionChange } from './sessions.ts'
import type { Slice } from './slice.ts'

/**
 * A history file is a header and frames: the length of the payload (4 bytes), its kind (1), a CRC-32 of kind and payload (4), the
 * payload. The first frame has the name of the server, the second an image of the history at some moment, the others the changes
 * since.
 */
export const frameKinds = { server: 1, image: 2, slice: 3, session: 4 } as const
export type FrameKind = (typeof frameKinds)[keyof typeof frameKinds]

/** Magic number and version of the format. */
export const header = Buffer.from('TWHIST\u0000\u0001', 'latin1')
const overhead = 9

const checksum = (kind: number, payload: Uint8Array): number => crc32(payload, kind)

export function encodeFrame(kind: FrameKind, payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(overhead + payload.length)
  frame.writeUInt32LE(payload.length, 0)
  frame.writeUInt8(kind, 4)
  frame.writeUInt32LE(checksum(kind, payload), 5)
  frame.set(payload, overhead)
  return frame
}

/** A frame of a file. */
export interface Frame {
  readonly kind: number
  readonly payload: Buffer
  /** Offset of its end in the file. */
  readonly end: number
}

/** The frames after the header, up to the first incomplete one. */
export function* readFrames(file: Buffer): Generator<Frame> {
  let position = header.length
  while (position + overhead <= file.length) {
    const end = position + overhead + file.readUInt32LE(position)
    if (end > file.length) return
    const kind = file.readUInt8(position + 4)
    const payload = file.subarray(position + overhead, end)
    if (file.readUInt32LE(position + 5) !== checksum(kind, payload)) return
    yield { kind, payload, end }
    position = end
  }
}

const finest = levels[0].step
const maxUint16 = 0xffff
const isExact = (name: SeriesName | undefined): boolean => name === 'players'

/** One bit per known series, and one per series whose value did not change, of which only the mean is written. */
export function encodeSlice({ start, knownMs, upMs, peakAt, values }: Slice): Buffer {
  const writer = createByteWriter()
  const bucket = Math.floor(start / finest)
  const bits = (test: (value: NonNullable<Slice['values'][number]>) => boolean) =>
    values.reduce((all, value, index) => (value !== undefined && test(value) ? all | (1 << index) : all), 0)
  writer.uint32(bucket)
  writer.uint16(Math.round(knownMs))
  writer.uint16(Math.round(upMs))
  writer.uint16(Math.min(finest, Math.max(0, Math.round(peakAt - bucket * finest))))
  writer.uint8(bits(() => true))
  writer.uint8(bits(({ min, max }) => min === max))
  values.forEach((value, index) => {
    if (value === undefined) return
    const { min, mean, max, weight } = value
    writer.uint16(Math.min(maxUint16, Math.round(weight)))
    for (const number of min === max ? [mean] : [min, mean, max]) {
      if (isExact(seriesNames[index])) writer.float32(number)
      else writer.uint16(encode16(number))
    }
  })
  return writer.done()
}

const readNumber = (reader: ByteReader, name: SeriesName): number =>
  isExact(name) ? reader.float32() : decode16(reader.uint16())

/** @throws RangeError if it is too short */
export function decodeSlice(payload: Buffer): Slice {
  const reader = createByteReader(payload)
  const start = reader.uint32() * finest
  const [knownMs, upMs, peakOffset] = [reader.uint16(), reader.uint16(), reader.uint16()]
  const [known, constant] = [reader.uint8(), reader.uint8()]
  const values = seriesNames.map((name, index) => {
    if ((known & (1 << index)) === 0) return undefined
    const weight = reader.uint16()
    const first = readNumber(reader, name)
    if ((constant & (1 << index)) !== 0) return { min: first, mean: first, max: first, weight }
    return { min: first, mean: readNumber(reader, name), max: readNumber(reader, name), weight }
  })
  return { start, knownMs, upMs, values, peakAt: start + peakOffset }
}

export function encodeSessionChange(change: SessionChange): Buffer {
  const writer = createByteWriter()
  writer.uint8(change.kind === 'join' ? 1 : 0)
  writer.float64(change.at)
  writer.bytes(Buffer.from(change.name))
  if (change.kind === 'join') writer.bytes(Buffer.from(change.id))
  return writer.done()
}

/** @throws RangeError if it is too short */
export function decodeSessionChange(payload: Buffer): SessionChange {
  const reader = createByteReader(payload)
  const isJoin = reader.uint8() === 1
  const at = reader.float64()
  const name = reader.bytes().toString()
  return isJoin ? { kind: 'join', at, name, id: reader.bytes().toString() } : { kind: 'leave', at, name }
}
