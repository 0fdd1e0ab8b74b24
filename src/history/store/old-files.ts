import { crc32 } from 'node:zlib'
import { isNumber, isTime } from '../../game/check.ts'
import { readFileUpToSync } from '../../util/files.ts'
import type { Session } from '../recording/sessions.ts'
import { dayMs, type Level, levels } from '../values/levels.ts'
import { seriesNames } from '../values/series.ts'
import { concatSlices, emptySlice, layout, ofSeries } from '../values/slices.ts'

/** What a file of an earlier version has, each server in its own file. */
export interface OldHistory {
  readonly server: string
  /** Unix milliseconds; absent if unknown. */
  readonly since?: number
  readonly record?: { readonly players: number; readonly at: number }
  /** For each level the slices of its buckets, then those to be added to all levels. The number of the server is missing. */
  readonly levels: readonly (readonly [Level, Float64Array])[]
  readonly slices: Float64Array
  /** Oldest first. */
  readonly sessions: readonly Session[]
}

const header = Buffer.from('TWHIST\u0000\u0001', 'latin1')
const kinds = { server: 1, image: 2, slice: 3, session: 4 } as const
const maxFile = 16 * 1024 * 1024
const quarterMs = 900_000
const sessionSize = 64
const maxSessions = 200

/** Reads little-endian values. @throws RangeError at the end of the bytes */
class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  uint8 = (): number => this.#bytes.readUInt8(this.#skip(1))
  uint16 = (): number => this.#bytes.readUInt16LE(this.#skip(2))
  uint32 = (): number => this.#bytes.readUInt32LE(this.#skip(4))
  float32 = (): number => this.#bytes.readFloatLE(this.#skip(4))
  float64 = (): number => this.#bytes.readDoubleLE(this.#skip(8))
  /** A decimal with 14 bits of digits and 2 bits for the place of the last one; NaN if unknown. */
  decimal(): number {
    const code = this.uint16()
    return code === 0xffff ? Number.NaN : (code & 0x3fff) / ([1000, 100, 10, 0.1][code >> 14] ?? 1)
  }

  bytes(): Buffer {
    const length = this.uint32()
    const at = this.#skip(length)
    if (at + length > this.#bytes.length) throw new RangeError('the length exceeds the remaining bytes')
    return this.#bytes.subarray(at, at + length)
  }

  #skip(bytes: number): number {
    this.#at += bytes
    return this.#at - bytes
  }
}

/** @param start Unix milliseconds */
function newSlice(start: number): Float64Array {
  const slice = emptySlice.slice()
  slice[layout.start] = start
  slice[layout.peakAt] = start
  return slice
}

/** @param weight milliseconds for which the value was known */
function setValue(slice: Float64Array, series: number, weight: number, min: number, mean: number, max: number): void {
  if (weight > 0 && isNumber(min) && isNumber(mean) && isNumber(max))
    slice.set([weight, mean * weight, min, max], layout.series + series * ofSeries.size)
}

/** The slices by the start of their bucket. */
class Buckets {
  readonly slices = new Map<number, Float64Array>()

  at(start: number): Float64Array {
    const found = this.slices.get(start) ?? newSlice(start)
    this.slices.set(start, found)
    return found
  }

  addTime(start: number, knownMs: number, upMs: number): void {
    const slice = this.at(start)
    slice[layout.knownMs] = (slice[layout.knownMs] ?? 0) + knownMs
    slice[layout.upMs] = (slice[layout.upMs] ?? 0) + Math.min(knownMs, upMs)
  }
}

/**
 * Reads a file up to the first frame that is damaged or incomplete; undefined if its start is.
 * @throws Error of the system
 */
export const readOldFile = (path: string): OldHistory | undefined => decodeOldFile(readFileUpToSync(path, maxFile))

/** The content of a file. */
export function decodeOldFile(file: Buffer): OldHistory | undefined {
  if (!file.subarray(0, header.length).equals(header)) return undefined
  try {
    const frames = [...readFrames(file)]
    const [name, image] = frames
    if (name?.kind !== kinds.server || image?.kind !== kinds.image) return undefined
    const { sessions, ...read } = readImage(new Reader(image.payload))
    const slices: Float64Array[] = []
    for (const { kind, payload } of frames.slice(2)) {
      if (kind === kinds.slice) slices.push(readSlice(new Reader(payload)))
      else if (kind === kinds.session) applyChange(sessions, new Reader(payload))
    }
    return { server: name.payload.toString(), ...read, slices: concatSlices(slices), sessions }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Each is the length of its payload, its kind, a CRC-32 of kind and payload, and the payload. */
function* readFrames(file: Buffer): Generator<{ readonly kind: number; readonly payload: Buffer }> {
  for (let at = header.length; at + 9 <= file.length; ) {
    const end = at + 9 + file.readUInt32LE(at)
    const [kind, payload] = [file.readUInt8(at + 4), file.subarray(at + 9, end)]
    if (end > file.length || file.readUInt32LE(at + 5) !== crc32(payload, kind)) return
    yield { kind, payload }
    at = end
  }
}

function readImage(reader: Reader) {
  const [since, players, at] = [reader.float64(), reader.float64(), reader.float64()]
  const read = levels.map((level) => [level, readLevel(reader, level)] as const)
  const [, , tens, days] = read.map(([, buckets]) => buckets)
  for (let remaining = reader.uint32(); remaining > 0; remaining--) {
    const start = reader.uint32() * dayMs
    days?.addTime(start, reader.uint32(), reader.uint32())
    const [, peakAt] = [reader.float32(), reader.float64()]
    const day = days?.at(start)
    if (day !== undefined && isTime(peakAt)) day[layout.peakAt] = peakAt
  }
  for (let remaining = reader.uint32(); remaining > 0; remaining--) {
    const [quarter, knownMs, upMs] = [reader.uint32() * quarterMs, reader.uint32(), reader.uint32()]
    reader.float32()
    reader.float64()
    // Its time is divided among the ten minutes that it overlaps.
    const { step } = levels[2]
    for (let start = Math.floor(quarter / step) * step; start < quarter + quarterMs; start += step) {
      const part = (Math.min(start + step, quarter + quarterMs) - Math.max(start, quarter)) / quarterMs
      tens?.addTime(start, knownMs * part, upMs * part)
    }
  }
  return {
    ...(isTime(since) && { since }),
    ...(isNumber(players) && isTime(at) && { record: { players, at } }),
    levels: read.map(([level, { slices }]) => [level, concatSlices([...slices.values()])] as const),
    sessions: readSessions(reader),
  }
}

function readLevel(reader: Reader, { step }: Level): Buckets {
  const buckets = new Buckets()
  for (let remaining = reader.uint32(); remaining > 0; remaining--) {
    const slice = buckets.at(reader.uint32() * step)
    const bits = reader.uint8()
    for (const series of seriesNames.keys())
      if ((bits & (1 << series)) !== 0) setValue(slice, series, step, reader.float32(), reader.float32(), reader.float32())
  }
  // For how long the values of the last bucket were known.
  const last = buckets.slices.get(reader.uint32() * step)
  for (const series of seriesNames.keys()) {
    const weight = reader.float64()
    const first = layout.series + series * ofSeries.size
    const known = last?.[first] ?? 0
    if (last === undefined || known === 0 || !(weight > 0 && weight <= step)) continue
    last[first + ofSeries.sum] = ((last[first + ofSeries.sum] ?? 0) / known) * weight
    last[first] = weight
  }
  return buckets
}

/** Slices of 10 s, with bits for the series that are known, and for those of which only the mean is written. */
function readSlice(reader: Reader): Float64Array {
  const slice = newSlice(reader.uint32() * levels[0].step)
  slice[layout.knownMs] = reader.uint16()
  slice[layout.upMs] = reader.uint16()
  slice[layout.peakAt] = (slice[layout.start] ?? 0) + reader.uint16()
  const [known, constant] = [reader.uint8(), reader.uint8()]
  for (const series of seriesNames.keys()) {
    if ((known & (1 << series)) === 0) continue
    const weight = reader.uint16()
    const number = () => (series === 0 ? reader.float32() : reader.decimal())
    const first = number()
    if ((constant & (1 << series)) !== 0) setValue(slice, series, weight, first, first, first)
    else setValue(slice, series, weight, first, number(), number())
  }
  return slice
}

/** The last sessions, in a table of 200 of which the oldest one is overwritten. */
function readSessions(reader: Reader): Session[] {
  const [count, table] = [reader.uint32(), reader.bytes()]
  const stored = Math.min(count, maxSessions, Math.floor(table.length / sessionSize))
  return Array.from({ length: stored }, (_, index) => {
    const at = ((count - stored + index) % maxSessions) * sessionSize
    const [from, to] = [table.readDoubleLE(at), table.readDoubleLE(at + 8)]
    const digits = table.toString('hex', at + 16, at + 32)
    return {
      name: table.toString('utf8', at + 33, at + 33 + Math.min(31, table.readUInt8(at + 32))),
      ...(!/^0+$/.test(digits) && { id: digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') }),
      ...(isTime(from) && { from }),
      ...(isTime(to) && { to }),
      isOnline: to === Number.POSITIVE_INFINITY,
    }
  })
}

/** Applies a player's joining or leaving to the sessions. */
function applyChange(sessions: Session[], reader: Reader): void {
  const isJoin = reader.uint8() === 1
  const at = reader.float64()
  const name = reader.bytes().toString()
  const index = sessions.findLastIndex((session) => session.isOnline && session.name === name)
  const open = sessions[index]
  if (isJoin) {
    // As in the table of the file.
    if (sessions.length === maxSessions) sessions.shift()
    const id = reader.bytes().toString()
    sessions.push({ name, ...(id !== '' && { id }), ...(isTime(at) && { from: at }), isOnline: true })
  } else if (open !== undefined) sessions[index] = { ...open, ...(isTime(at) && { to: at }), isOnline: false }
}
