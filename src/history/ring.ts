import type { ByteReader, ByteWriter } from './bytes.ts'
import { decode16, encode16, unknown16 } from './decimal16.ts'
import { seriesNames } from './series.ts'

/** What was recorded of one series in one bucket; the values of no known moment are NaN. */
export interface Bucket {
  readonly min: number
  readonly mean: number
  readonly max: number
}

/** A number in 4 or 2 bytes. Players are exact; for the others 4 digits are enough. */
interface Column {
  get(position: number): number
  set(position: number, value: number): void
  readonly byteLength: number
}

function exactColumn(length: number): Column {
  const values = new Float32Array(length).fill(Number.NaN)
  return {
    get: (position) => values[position] ?? Number.NaN,
    set(position, value) {
      values[position] = value
    },
    byteLength: values.byteLength,
  }
}

function decimalColumn(length: number): Column {
  const values = new Uint16Array(length).fill(unknown16)
  return {
    get: (position) => decode16(values[position] ?? unknown16),
    set(position, value) {
      values[position] = encode16(value)
    },
    byteLength: values.byteLength,
  }
}

const createColumn = (index: number, length: number): Column => (index === 0 ? exactColumn(length) : decimalColumn(length))

/** The last `slots` buckets of `step` ms, by the number of the bucket since 1970. */
export interface Ring {
  readonly step: number
  readonly slots: number
  /**
   * Adds what was known in a part of a bucket.
   * @param series position in the list of series
   * @param weight milliseconds for which it was known
   */
  add(bucket: number, series: number, values: Bucket, weight: number): void
  /** Undefined where nothing is known. */
  get(bucket: number, series: number): Bucket | undefined
  bytes(): number
  write(writer: ByteWriter): void
  /** Adds what `write` wrote. */
  read(reader: ByteReader): void
}

/**
 * Each slot has the number of the bucket that it holds, so that a clock that jumps, forward or back, only costs the slots that are
 * written while it is wrong.
 */
export function createRing(step: number, slots: number): Ring {
  const held = new Uint32Array(slots)
  /** For each series min, mean and max of each slot; made when the series is known for the first time. */
  const columns: (Column | undefined)[] = seriesNames.map(() => undefined)
  /** Of the bucket that was last added to, for each series the milliseconds that its mean is of and their exact sum. */
  let open = 0
  const weights = new Float64Array(seriesNames.length)
  const sums = new Float64Array(seriesNames.length)

  const slotOf = (bucket: number): number => bucket % slots

  function enter(bucket: number): void {
    if (bucket === open) return
    open = bucket
    const slot = slotOf(bucket)
    const isKept = held[slot] === bucket
    held[slot] = bucket
    for (let index = 0; index < columns.length; index++) {
      const column = columns[index]
      const mean = isKept ? column?.get(3 * slot + 1) : undefined
      const isKnown = mean !== undefined && !Number.isNaN(mean)
      // How long it was known is not kept: that of a whole bucket is the best guess.
      weights[index] = isKnown ? step : 0
      sums[index] = isKnown ? mean * step : 0
      if (!isKept) for (let place = 0; place < 3; place++) column?.set(3 * slot + place, Number.NaN)
    }
  }

  function columnOf(index: number): Column {
    const column = columns[index] ?? createColumn(index, 3 * slots)
    columns[index] = column
    return column
  }

  function put(column: Column, slot: number, { min, mean, max }: Bucket): void {
    column.set(3 * slot, min)
    column.set(3 * slot + 1, mean)
    column.set(3 * slot + 2, max)
  }

  function add(bucket: number, index: number, { min, mean, max }: Bucket, weight: number): void {
    enter(bucket)
    const slot = slotOf(bucket)
    const column = columnOf(index)
    const before = weights[index] ?? 0
    const total = before + weight
    const sum = (sums[index] ?? 0) + mean * weight
    weights[index] = total
    sums[index] = sum
    // Only what changes is encoded: most of the time of loading a history goes into this.
    if (before === 0 || min < column.get(3 * slot)) column.set(3 * slot, min)
    column.set(3 * slot + 1, sum / total)
    if (before === 0 || max > column.get(3 * slot + 2)) column.set(3 * slot + 2, max)
  }

  function get(bucket: number, index: number): Bucket | undefined {
    const slot = slotOf(bucket)
    const column = columns[index]
    if (column === undefined || held[slot] !== bucket) return undefined
    const mean = column.get(3 * slot + 1)
    return Number.isNaN(mean) ? undefined : { min: column.get(3 * slot), mean, max: column.get(3 * slot + 2) }
  }

  return {
    step,
    slots,
    add,
    get,
    bytes: () => columns.reduce((sum, column) => sum + (column?.byteLength ?? 0), held.byteLength),
    write(writer) {
      const filled = [...held].filter((bucket) => bucket > 0)
      writer.uint32(filled.length)
      for (const bucket of filled) {
        const values = seriesNames.map((_, index) => get(bucket, index))
        writer.uint32(bucket)
        writer.uint8(values.reduce((bits, value, index) => (value === undefined ? bits : bits | (1 << index)), 0))
        for (const value of values) {
          if (value === undefined) continue
          writer.float32(value.min)
          writer.float32(value.mean)
          writer.float32(value.max)
        }
      }
      writer.uint32(open)
      for (let index = 0; index < seriesNames.length; index++) writer.float64(weights[index] ?? 0)
    },
    read(reader) {
      for (let left = reader.uint32(); left > 0; left--) {
        const bucket = reader.uint32()
        const bits = reader.uint8()
        const slot = slotOf(bucket)
        const isFree = held[slot] === 0
        if (isFree) held[slot] = bucket
        for (let index = 0; index < seriesNames.length; index++) {
          if ((bits & (1 << index)) === 0) continue
          const values = { min: reader.float32(), mean: reader.float32(), max: reader.float32() }
          if (isFree) put(columnOf(index), slot, values)
          else add(bucket, index, values, step)
        }
      }
      const last = reader.uint32()
      if (last > 0) enter(last)
      for (let index = 0; index < seriesNames.length; index++) {
        const weight = reader.float64()
        const mean = (sums[index] ?? 0) / (weights[index] || 1)
        weights[index] = weight
        sums[index] = mean * weight
      }
    },
  }
}
