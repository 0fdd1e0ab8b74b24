import { listed, range, type Selection } from './selection.ts'

/** An optional integer of every entry (a day, a time), for range queries. */
export interface NumberColumn {
  /** Entries whose number is in [min, max]; those without a number never match. */
  between(min: number, max: number): Selection
}

export function numberColumn(numbers: readonly (number | undefined)[]): NumberColumn {
  // NaN compares false with everything, so it is never in a range, and the column is then not ascending.
  const column = new Float64Array(numbers.length)
  let ascending = true
  let before = Number.NEGATIVE_INFINITY
  // A loop: a callback per number would take longer than all other work at the end of a load.
  for (let id = 0; id < numbers.length; id++) {
    const value = numbers[id] ?? Number.NaN
    column[id] = value
    if (!(before <= value)) ascending = false
    before = value
  }
  if (ascending) {
    return {
      between(min, max) {
        const from = firstAbove(column, (value) => value >= min)
        return range(from, Math.max(0, firstAbove(column, (value) => value > max) - from))
      },
    }
  }
  return {
    between(min, max) {
      const ids: number[] = []
      for (let id = 0; id < column.length; id++) {
        const value = column[id] ?? Number.NaN
        if (value >= min && value <= max) ids.push(id)
      }
      return listed(ids)
    },
  }
}

/** Index of the first value of an ascending column for which `above` is true; its length if there is none. */
function firstAbove(column: Float64Array, above: (value: number) => boolean): number {
  let [low, high] = [0, column.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (above(column[middle] ?? Number.NaN)) high = middle
    else low = middle + 1
  }
  return low
}
