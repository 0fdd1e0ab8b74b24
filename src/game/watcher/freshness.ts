import type { FieldName } from '../fields.ts'
import { fieldReadAt } from '../snapshot.ts'
import type { Reading, SourceName } from '../sources/source.ts'

/** What the sources of one server have read and is not stale. */
export interface Freshness {
  /** A poll replaces what its source has read and pushed before. */
  addPolled(reading: Reading): void
  /** What is pushed comes on top of the last poll. Each field keeps its own time. */
  addPushed(reading: Reading): void
  /** Of each source its last poll, then what was pushed since. */
  readings(): readonly Reading[]
  /** From the next `expire` on, fields that were read at this time (monotonic milliseconds) or before it count as stale. */
  dropUntil(at: number): void
  /**
   * Drops the fields that are stale, and everything of sources that are not among these.
   * @param keepUntil monotonic milliseconds before which nothing is dropped, however old it is
   * @returns monotonic milliseconds at which the next field goes stale; infinite: none does
   */
  expire(now: number, sources: ReadonlySet<SourceName>, keepUntil?: number): number
}

/**
 * A field is stale `staleAfter` milliseconds after it was read. One that its source reads less often than in each poll lasts
 * longer by the time between two reads, but not longer than `staleAfter` after its source was last read.
 * @param isKept for a source that `dropUntil` does not concern
 */
export function createFreshness(staleAfter: number, isKept: (source: SourceName) => boolean = () => false): Freshness {
  const bySource = new Map<SourceName, readonly Reading[]>()
  let droppedUntil = Number.NEGATIVE_INFINITY

  /** A source may remember a field and give it again after it was dropped. */
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

/** Two pushed readings as one, in which each field has the time at which it was read. */
function combine(earlier: Reading, later: Reading): Reading {
  const names = Object.keys(earlier.fields) as FieldName[]
  const earlierTimes = Object.fromEntries(names.map((field) => [field, fieldReadAt(earlier, field)]))
  const laterTimes = Object.fromEntries(
    (Object.keys(later.fields) as FieldName[]).map((field) => [field, fieldReadAt(later, field)]),
  )
  return { ...later, fields: { ...earlier.fields, ...later.fields }, readAt: { ...earlierTimes, ...laterTimes } }
}
