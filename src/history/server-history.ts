import type { ByteReader, ByteWriter } from './bytes.ts'
import { createDays, type Day, dayMs } from './days.ts'
import { levels } from './levels.ts'
import { type Bucket, createRing, type Ring } from './ring.ts'
import { seriesNames } from './series.ts'
import { joinSlices, type Slice } from './slice.ts'

const minute = 60_000

/** How finely the uptime of the last 24 hours is recorded. */
export const quarterMs = 15 * minute

/** What is known of a server from one snapshot to the next. */
export interface Observation {
  readonly up: boolean
  /** In the order of the series; undefined where unknown. */
  readonly values: readonly (number | undefined)[]
}

export interface Record {
  readonly players: number
  /** Unix milliseconds. */
  readonly at: number
}

/** What is recorded of one server. Times are Unix milliseconds. */
export interface ServerHistory {
  /** When it was watched first; undefined where it never was. */
  readonly since: number | undefined
  /** Most players ever seen. */
  readonly record: Record | undefined
  /** Adds what held from `start` for `durationMs`; it may be 0: then it was seen, but for how long is not known yet. */
  add(observation: Observation, start: number, durationMs: number): void
  /** Adds one that was added before the process ended. */
  restore(slice: Slice): void
  /** What was added since the last call, one slice per bucket of the finest step. */
  takeSlices(): readonly Slice[]
  /** @param bucket number of the bucket of that level since 1970 */
  get(level: number, bucket: number, series: number): Bucket | undefined
  day(day: number): Day | undefined
  /** @param quarter number of the quarter of an hour since 1970, of the last 24 hours */
  quarter(quarter: number): Pick<Day, 'knownMs' | 'upMs'> | undefined
  bytes(): number
  write(writer: ByteWriter): void
  read(reader: ByteReader): void
}

/** Weight of a value that was only just seen, milliseconds. */
const instant = 1
const players = seriesNames.indexOf('players')

export function createServerHistory(): ServerHistory {
  const rings: readonly Ring[] = levels.map(({ step, span }) => createRing(step, span / step))
  const days = createDays(levels[3].span / dayMs)
  const quarters = createDays(dayMs / quarterMs)
  const finest = levels[0].step
  let since: number | undefined
  let record: Record | undefined
  let slices: Slice[] = []

  function apply(slice: Slice): void {
    const { start, knownMs, upMs, values, peakAt } = slice
    if (since === undefined || start < since) since = start
    values.forEach((value, index) => {
      if (value === undefined) return
      for (const ring of rings) ring.add(Math.floor(start / ring.step), index, value, value.weight)
    })
    const day = Math.floor(start / dayMs)
    days.addTime(day, knownMs, upMs)
    quarters.addTime(Math.floor(start / quarterMs), knownMs, upMs)
    const peak = values[players]?.max
    if (peak === undefined) return
    days.addPlayers(day, peak, peakAt)
    if (record === undefined || peak > record.players) record = { players: peak, at: peakAt }
  }

  /** All of it lies within one bucket of the finest step. */
  function addPart({ up, values }: Observation, start: number, durationMs: number): void {
    const weight = Math.max(instant, durationMs)
    const slice: Slice = {
      start,
      knownMs: durationMs,
      upMs: up ? durationMs : 0,
      peakAt: start,
      values: values.map((value) => (value === undefined ? undefined : { min: value, mean: value, max: value, weight })),
    }
    apply(slice)
    const last = slices.at(-1)
    if (last !== undefined && Math.floor(last.start / finest) === Math.floor(start / finest)) {
      slices[slices.length - 1] = joinSlices(last, slice)
    } else slices.push(slice)
  }

  return {
    get since() {
      return since
    },
    get record() {
      return record
    },
    add(observation, start, durationMs) {
      // Before 1970 there are no buckets.
      if (start < 0) return
      let from = start
      const end = start + durationMs
      do {
        const next = Math.min(end, (Math.floor(from / finest) + 1) * finest)
        addPart(observation, from, next - from)
        from = next
      } while (from < end)
    },
    restore: apply,
    takeSlices() {
      const taken = slices
      slices = []
      return taken
    },
    get: (level, bucket, index) => rings[level]?.get(bucket, index),
    day: (day) => days.get(day),
    quarter: (quarter) => quarters.get(quarter),
    bytes: () => rings.reduce((sum, ring) => sum + ring.bytes(), days.bytes() + quarters.bytes()),
    write(writer) {
      writer.float64(since ?? Number.NaN)
      writer.float64(record?.players ?? Number.NaN)
      writer.float64(record?.at ?? Number.NaN)
      for (const ring of rings) ring.write(writer)
      days.write(writer)
      quarters.write(writer)
    },
    read(reader) {
      const [first, most, at] = [reader.float64(), reader.float64(), reader.float64()]
      if (!Number.isNaN(first)) since = Math.min(first, since ?? first)
      if (!Number.isNaN(most) && (record === undefined || most > record.players)) record = { players: most, at }
      for (const ring of rings) ring.read(reader)
      days.read(reader)
      quarters.read(reader)
    },
  }
}
