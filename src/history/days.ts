import type { ByteReader, ByteWriter } from './bytes.ts'
import { Slots } from './slots.ts'

export const dayMs = 86_400_000

/** The record of one UTC day. */
export interface Day {
  /** Milliseconds for which the state of the server was known, and for which it was up. */
  readonly knownMs: number
  readonly upMs: number
  /** Maximum number of players; NaN if unknown. */
  readonly peak: number
  /** Unix milliseconds. */
  readonly peakAt: number
}

/** The last `slots` days, by day number since 1970. */
export interface Days {
  addTime(day: number, knownMs: number, upMs: number): void
  /** @param at Unix milliseconds */
  addPlayers(day: number, players: number, at: number): void
  get(day: number): Day | undefined
  bytes(): number
  write(writer: ByteWriter): void
  read(reader: ByteReader): void
}

/** Offsets of the values of a day, in 16-bit words: known, up, time of the peak (32 bits each), peak (a float). */
const layout = { known: 0, up: 2, peakAt: 4, peak: 6 } as const

const float = new Float32Array(1)
const floatBits = new Uint32Array(float.buffer)

function bitsOf(value: number): number {
  float[0] = value
  return floatBits[0] ?? 0
}

function floatOf(bits: number): number {
  floatBits[0] = bits
  return float[0] ?? Number.NaN
}

const nan = bitsOf(Number.NaN)
const empty: readonly number[] = [0, 0, 0, 0, 0, 0, nan & 0xffff, nan >>> 16]

function read32(words: Uint16Array, at: number): number {
  return (words[at] ?? 0) + (words[at + 1] ?? 0) * 0x10000
}

function write32(words: Uint16Array, at: number, value: number): void {
  words[at] = value & 0xffff
  words[at + 1] = value >>> 16
}

export const createDays = (slots: number): Days => new SlotDays(slots)

/** A class for the same reason as rings.ts. Like there, a day is in the table after it has ended. */
class SlotDays implements Days {
  readonly #slots: number
  #table: Slots | undefined
  /** The day that was last added to; -1 if there is none. Its values are rounded to milliseconds. */
  #day = -1
  #knownMs = 0
  #upMs = 0
  #peak = Number.NaN
  /** Milliseconds since the start of the day. */
  #peakAt = 0

  constructor(slots: number) {
    this.#slots = slots
  }

  addTime(day: number, knownMs: number, upMs: number): void {
    this.#enter(day)
    this.#knownMs = Math.min(dayMs, Math.round(this.#knownMs + knownMs))
    this.#upMs = Math.min(this.#knownMs, Math.round(this.#upMs + upMs))
  }

  addPlayers(day: number, players: number, at: number): void {
    this.#enter(day)
    if (this.#peak >= players) return
    this.#peak = Math.fround(players)
    this.#peakAt = Math.trunc(at - day * dayMs)
  }

  get(day: number): Day | undefined {
    if (day === this.#day) {
      return { knownMs: this.#knownMs, upMs: this.#upMs, peak: this.#peak, peakAt: day * dayMs + this.#peakAt }
    }
    const table = this.#table
    const at = table?.find(day) ?? -1
    if (table === undefined || at === -1) return undefined
    const { words } = table
    return {
      knownMs: read32(words, at + layout.known),
      upMs: read32(words, at + layout.up),
      peak: floatOf(read32(words, at + layout.peak)),
      peakAt: day * dayMs + read32(words, at + layout.peakAt),
    }
  }

  bytes(): number {
    return this.#table?.byteLength ?? 0
  }

  write(writer: ByteWriter): void {
    const ended = [...(this.#table?.buckets() ?? [])].filter((day) => day !== this.#day)
    const filled = this.#day === -1 ? ended : [...ended, this.#day]
    writer.uint32(filled.length)
    for (const number of filled) {
      const day = this.get(number)
      writer.uint32(number)
      writer.uint32(day?.knownMs ?? 0)
      writer.uint32(day?.upMs ?? 0)
      writer.float32(day?.peak ?? Number.NaN)
      writer.float64(day?.peakAt ?? 0)
    }
  }

  read(reader: ByteReader): void {
    for (let remaining = reader.uint32(); remaining > 0; remaining--) {
      const day = reader.uint32()
      this.addTime(day, reader.uint32(), reader.uint32())
      const [players, at] = [reader.float32(), reader.float64()]
      if (!Number.isNaN(players)) this.addPlayers(day, players, at)
    }
  }

  #enter(day: number): void {
    if (day === this.#day) return
    if (this.#day !== -1) this.#close(this.#day)
    const stored = this.get(day)
    this.#day = day
    this.#knownMs = stored?.knownMs ?? 0
    this.#upMs = stored?.upMs ?? 0
    this.#peak = stored?.peak ?? Number.NaN
    this.#peakAt = stored === undefined ? 0 : stored.peakAt - day * dayMs
  }

  #close(day: number): void {
    this.#table ??= new Slots(this.#slots, empty)
    const at = this.#table.enter(day)
    const { words } = this.#table
    write32(words, at + layout.known, this.#knownMs)
    write32(words, at + layout.up, this.#upMs)
    write32(words, at + layout.peak, bitsOf(this.#peak))
    write32(words, at + layout.peakAt, this.#peakAt)
  }
}
