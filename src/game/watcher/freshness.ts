import type { FieldName } from '../fields.ts'
import type { SourceName } from '../sources/names.ts'
import type { Reading, Source } from '../sources/source.ts'

/** The reading of the last poll of one source, and the combined pushed reading since then. */
interface SourceReadings {
  polled: Reading
  pushed: Reading | undefined
}

const noReadings: readonly SourceReadings[] = []

/**
 * The readings of one server's sources that are not stale.
 * A field is stale `staleAfter` milliseconds after it was read. A field that is not read in every poll is valid longer, by the time
 * between two reads, but at most until `staleAfter` after the last poll of its source.
 * @param isKept returns true for a source that `dropUntil` does not apply to
 */
export class Freshness {
  readonly #staleAfter: number
  readonly #isKept: (source: SourceName) => boolean
  #sources: readonly SourceReadings[] = noReadings
  #droppedUntil = Number.NEGATIVE_INFINITY

  constructor(staleAfter: number, isKept: (source: SourceName) => boolean = () => false) {
    this.#staleAfter = staleAfter
    this.#isKept = isKept
  }

  /** Adds the reading of a poll, which replaces all earlier readings of its source. */
  addPolled(reading: Reading): void {
    const own = this.#of(reading)
    if (own === undefined) this.#sources = this.#sources.concat({ polled: reading, pushed: undefined })
    else {
      own.polled = reading
      own.pushed = undefined
    }
  }

  /** Adds a pushed reading, which is combined with earlier ones since the last poll. Each field keeps its own time. */
  addPushed(reading: Reading): void {
    const own = this.#of(reading)
    if (own === undefined) this.#sources = this.#sources.concat({ polled: { ...reading, fields: {} }, pushed: reading })
    else own.pushed = own.pushed === undefined ? reading : combine(own.pushed, reading)
  }

  /** Returns for each source the reading of its last poll, then the combined pushed reading. */
  readings(): readonly Reading[] {
    const all: Reading[] = []
    for (const { polled, pushed } of this.#sources) {
      all.push(polled)
      if (pushed !== undefined) all.push(pushed)
    }
    return all
  }

  /** Makes fields that were read at or before this time (monotonic milliseconds) stale from the next `expire` on. */
  dropUntil(at: number): void {
    this.#droppedUntil = at
  }

  /**
   * Drops stale fields and the readings of sources that are not in `sources`.
   * @param keepUntil monotonic milliseconds before which no field is dropped because of its age
   * @returns monotonic milliseconds at which the next field becomes stale; Infinity if there is none
   */
  expire(now: number, sources: readonly Pick<Source, 'name'>[], keepUntil = Number.NEGATIVE_INFINITY): number {
    const isListed = ({ polled }: SourceReadings) => sources.some(({ name }) => name === polled.source)
    if (!this.#sources.every(isListed)) this.#sources = this.#sources.filter(isListed)
    let next = Number.POSITIVE_INFINITY
    const freshOf = (reading: Reading): Reading => {
      const hasOneTime = reading.readAt === undefined && reading.readEvery === undefined
      let isFresh = true
      for (const field in reading.fields) {
        const at = this.#validUntil(reading, field as FieldName, keepUntil)
        if (at > now) next = Math.min(next, at)
        else isFresh = false
        if (hasOneTime) break
      }
      return isFresh ? reading : this.#withoutStale(reading, now, keepUntil)
    }
    for (const own of this.#sources) {
      own.polled = freshOf(own.polled)
      if (own.pushed !== undefined) own.pushed = freshOf(own.pushed)
    }
    return next
  }

  #of({ source }: Reading): SourceReadings | undefined {
    return this.#sources.find(({ polled }) => polled.source === source)
  }

  #withoutStale(reading: Reading, now: number, keepUntil: number): Reading {
    const names = Object.keys(reading.fields) as FieldName[]
    const fresh = names.filter((field) => this.#validUntil(reading, field, keepUntil) > now)
    return { ...reading, fields: Object.fromEntries(fresh.map((field) => [field, reading.fields[field]])) }
  }

  /** Monotonic milliseconds until which a field is not stale. */
  #validUntil(reading: Reading, field: FieldName, keepUntil: number): number {
    const readAt = fieldReadAt(reading, field)
    // A source may cache a field and return it again after it was dropped.
    if (readAt <= this.#droppedUntil && !this.#isKept(reading.source)) return Number.NEGATIVE_INFINITY
    const readAgain = readAt + (reading.readEvery?.[field] ?? 0)
    return Math.max(Math.min(readAgain, reading.at) + this.#staleAfter, keepUntil)
  }
}

/** Returns the time at which a field of the reading was read, in monotonic milliseconds. */
const fieldReadAt = (reading: Reading, field: FieldName): number => reading.readAt?.[field] ?? reading.at

/** Combines two pushed readings. Each field keeps the time at which it was read. */
function combine(earlier: Reading, later: Reading): Reading {
  const names = Object.keys(earlier.fields) as FieldName[]
  const earlierTimes = Object.fromEntries(names.map((field) => [field, fieldReadAt(earlier, field)]))
  const laterTimes = Object.fromEntries(
    (Object.keys(later.fields) as FieldName[]).map((field) => [field, fieldReadAt(later, field)]),
  )
  return { ...later, fields: { ...earlier.fields, ...later.fields }, readAt: { ...earlierTimes, ...laterTimes } }
}
