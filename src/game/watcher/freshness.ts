import type { FieldName } from '../fields.ts'
import { fieldReadAt } from '../snapshot.ts'
import type { Reading, SourceName } from '../sources/source.ts'

/** The readings of one server's sources that are not stale. */
export interface Freshness {
  /** Adds the reading of a poll, which replaces all earlier readings of its source. */
  addPolled(reading: Reading): void
  /** Adds a pushed reading, which is combined with earlier ones since the last poll. Each field keeps its own time. */
  addPushed(reading: Reading): void
  /** Returns for each source the reading of its last poll, then the combined pushed reading. */
  readings(): readonly Reading[]
  /** Makes fields that were read at or before this time (monotonic milliseconds) stale from the next `expire` on. */
  dropUntil(at: number): void
  /**
   * Drops stale fields and the readings of sources that are not in `sources`.
   * @param keepUntil monotonic milliseconds before which no field is dropped because of its age
   * @returns monotonic milliseconds at which the next field becomes stale; Infinity if there is none
   */
  expire(now: number, sources: ReadonlySet<SourceName>, keepUntil?: number): number
}

/**
 * A field is stale `staleAfter` milliseconds after it was read. A field that is not read in every poll is valid longer, by the time
 * between two reads, but at most until `staleAfter` after the last poll of its source.
 * @param isKept returns true for a source that `dropUntil` does not apply to
 */
export function createFreshness(staleAfter: number, isKept: (source: SourceName) => boolean = () => false): Freshness {
  const bySource = new Map<SourceName, readonly Reading[]>()
  let droppedUntil = Number.NEGATIVE_INFINITY

  /** A source may cache a field and return it again after it was dropped. */
  const isDropped = (reading: Reading, field: FieldName): boolean =>
    fieldReadAt(reading, field) <= droppedUntil && !isKept(reading.source)

  function expiresAt(reading: Reading, field: FieldName): number {
    const readAgain = fieldReadAt(reading, field) + (reading.readEvery?.[field] ?? 0)
    return Math.min(readAgain, reading.at) + staleAfter
  }

  return {
    addPolled: (reading) => void bySource.set(reading.source, [reading]),
    addPushed(reading) {
      const [polled = { ...reading, fields: {} }, pushed] = bySource.get(reading.source) ?? []
      bySource.set(reading.source, [polled, pushed === undefined ? reading : combine(pushed, reading)])
    },
    readings: () => [...bySource.values()].flat(),
    dropUntil(at) {
      droppedUntil = at
    },
    expire(now, sources, keepUntil = Number.NEGATIVE_INFINITY) {
      let next = Number.POSITIVE_INFINITY
      for (const [source, readings] of bySource) {
        if (!sources.has(source)) bySource.delete(source)
        else {
          const fresh = readings.map((reading) => {
            const names = Object.keys(reading.fields) as FieldName[]
            const kept = names.filter((field) => {
              if (isDropped(reading, field)) return false
              const at = Math.max(expiresAt(reading, field), keepUntil)
              if (at > now) next = Math.min(next, at)
              return at > now
            })
            if (kept.length === names.length) return reading
            return { ...reading, fields: Object.fromEntries(kept.map((field) => [field, reading.fields[field]])) }
          })
          bySource.set(source, fresh)
        }
      }
      return next
    },
  }
}

/** Combines two pushed readings. Each field keeps the time at which it was read. */
function combine(earlier: Reading, later: Reading): Reading {
  const names = Object.keys(earlier.fields) as FieldName[]
  const earlierTimes = Object.fromEntries(names.map((field) => [field, fieldReadAt(earlier, field)]))
  const laterTimes = Object.fromEntries(
    (Object.keys(later.fields) as FieldName[]).map((field) => [field, fieldReadAt(later, field)]),
  )
  return { ...later, fields: { ...earlier.fields, ...later.fields }, readAt: { ...earlierTimes, ...laterTimes } }
}
