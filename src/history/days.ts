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

export const createDays = (slots: number): Days => new SlotDays(slots)

/** A class for the same reason as ring.ts. */
class SlotDays implements Days {
  readonly #table: Slots

  constructor(slots: number) {
    this.#table = new Slots(slots, empty)
  }

  addTime(day: number, knownMs: number, upMs: number): void {
    const at = this.#table.enter(day)
    const known = Math.min(dayMs, this.#read(at + layout.known) + knownMs)
    this.#write(at + layout.known, known)
    this.#write(at + layout.up, Math.min(known, this.#read(at + layout.up) + upMs))
  }

  addPlayers(day: number, players: number, at: number): void {
    const slot = this.#table.enter(day)
    if (floatOf(this.#read(slot + layout.peak)) >= players) return
    this.#write(slot + layout.peak, bitsOf(players))
    this.#write(slot + layout.peakAt, at - day * dayMs)
  }

  get(day: number): Day | undefined {
    const at = this.#table.find(day)
    if (at === -1) return undefined
    return {
      knownMs: this.#read(at + layout.known),
      upMs: this.#read(at + layout.up),
      peak: floatOf(this.#read(at + layout.peak)),
      peakAt: day * dayMs + this.#read(at + layout.peakAt),
    }
  }

  bytes(): number {
    return this.#table.byteLength
  }

  write(writer: ByteWriter): void {
    const filled = [...this.#table.buckets()]
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

  #read(at: number): number {
    const { words } = this.#table
    return (words[at] ?? 0) + (words[at + 1] ?? 0) * 0x10000
  }

  #write(at: number, value: number): void {
    const { words } = this.#table
    words[at] = value & 0xffff
    words[at + 1] = value >>> 16
  }
}
