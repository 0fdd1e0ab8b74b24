import { listed, range, type Selection } from './selection.ts'

/** One whole number of every entry (a day, a time), or none. */
export interface NumberColumn {
  /** Entries whose number lies in [least, most]; those without one are in no range. */
  between(least: number, most: number): Selection
}

export function numberColumn(numbers: readonly (number | undefined)[]): NumberColumn {
  // NaN is neither smaller nor larger than anything, so it is in no range and in no order.
  const column = new Float64Array(numbers.length)
  let ascending = true
  let before = Number.NEGATIVE_INFINITY
  // A loop: a call for each of a million numbers takes longer than all else that is done when a load ends.
  for (let id = 0; id < numbers.length; id++) {
    const value = numbers[id] ?? Number.NaN
    column[id] = value
    if (!(before <= value)) ascending = false
    before = value
  }
  if (ascending) {
    return {
      between(least, most) {
        const from = firstAbove(column, (value) => value >= least)
        return range(from, Math.max(0, firstAbove(column, (value) => value > most) - from))
      },
    }
  }
  return {
    between(least, most) {
      const ids: number[] = []
      for (let id = 0; id < column.length; id++) {
        const value = column[id] ?? Number.NaN
        if (value >= least && value <= most) ids.push(id)
      }
      return listed(ids)
    },
  }
}

/** Index of the first value of an ascending column that is above; its length where none is. */
function firstAbove(column: Float64Array, above: (value: number) => boolean): number {
  let [low, high] = [0, column.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (above(column[middle] ?? Number.NaN)) high = middle
    else low = middle + 1
  }
  return low
}
