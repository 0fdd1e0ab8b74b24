import type { ByteReader, ByteWriter } from './bytes.ts'

export const dayMs = 86_400_000

/** What is known of one UTC day. */
export interface Day {
  /** Milliseconds in which the server was watched, and of these in which it was up. */
  readonly knownMs: number
  readonly upMs: number
  /** Most players; NaN where unknown. */
  readonly peak: number
  /** Unix milliseconds. */
  readonly peakAt: number
}

/** The last `slots` days, by their number since 1970. */
export interface Days {
  addTime(day: number, knownMs: number, upMs: number): void
  /** @param at Unix milliseconds */
  addPlayers(day: number, players: number, at: number): void
  get(day: number): Day | undefined
  bytes(): number
  write(writer: ByteWriter): void
  read(reader: ByteReader): void
}

export function createDays(slots: number): Days {
  const held = new Uint32Array(slots)
  const known = new Uint32Array(slots)
  const up = new Uint32Array(slots)
  const peaks = new Float32Array(slots)
  /** Milliseconds since the start of the day. */
  const peakTimes = new Uint32Array(slots)

  function enter(day: number): number {
    const slot = day % slots
    if (held[slot] !== day) {
      held[slot] = day
      known[slot] = 0
      up[slot] = 0
      peaks[slot] = Number.NaN
    }
    return slot
  }

  function addTime(day: number, knownMs: number, upMs: number): void {
    const slot = enter(day)
    known[slot] = Math.min(dayMs, (known[slot] ?? 0) + knownMs)
    up[slot] = Math.min(known[slot] ?? 0, (up[slot] ?? 0) + upMs)
  }

  function addPlayers(day: number, players: number, at: number): void {
    const slot = enter(day)
    if ((peaks[slot] ?? 0) >= players) return
    peaks[slot] = players
    peakTimes[slot] = at - day * dayMs
  }

  function get(day: number): Day | undefined {
    const slot = day % slots
    if (held[slot] !== day) return undefined
    return {
      knownMs: known[slot] ?? 0,
      upMs: up[slot] ?? 0,
      peak: peaks[slot] ?? Number.NaN,
      peakAt: day * dayMs + (peakTimes[slot] ?? 0),
    }
  }

  return {
    addTime,
    addPlayers,
    get,
    bytes: () => [held, known, up, peaks, peakTimes].reduce((sum, { byteLength }) => sum + byteLength, 0),
    write(writer) {
      const filled = [...held].filter((day) => day > 0)
      writer.uint32(filled.length)
      for (const number of filled) {
        const day = get(number)
        writer.uint32(number)
        writer.uint32(day?.knownMs ?? 0)
        writer.uint32(day?.upMs ?? 0)
        writer.float32(day?.peak ?? Number.NaN)
        writer.float64(day?.peakAt ?? 0)
      }
    },
    read(reader) {
      for (let left = reader.uint32(); left > 0; left--) {
        const day = reader.uint32()
        addTime(day, reader.uint32(), reader.uint32())
        const [players, at] = [reader.float32(), reader.float64()]
        if (!Number.isNaN(players)) addPlayers(day, players, at)
      }
    },
  }
}
