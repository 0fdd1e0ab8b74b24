/** Entries selected by a filter, in snapshot order: the ids in `ids`, or without it, `total` ids starting at `from`. */
export interface Selection {
  readonly total: number
  readonly from: number
  readonly ids?: Uint32Array
}

export const range = (from: number, total: number): Selection => ({ from, total })

export const listed = (ids: readonly number[] | Uint32Array): Selection => ({
  from: 0,
  total: ids.length,
  ids: ids instanceof Uint32Array ? ids : new Uint32Array(ids),
})

/** The part of a selection on a page. */
export function slice({ from, total, ids }: Selection, offset: number, limit: number): Selection {
  const start = Math.min(offset, total)
  const end = Math.min(start + limit, total)
  return ids === undefined ? range(from + start, end - start) : listed(ids.subarray(start, end))
}

/** Entries that are in either of two lists of ascending ids. */
export function union(left: Uint32Array, right: Uint32Array): Uint32Array {
  if (left.length === 0) return right
  const ids = new Uint32Array(left.length + right.length)
  let [count, i, j] = [0, 0, 0]
  while (i < left.length || j < right.length) {
    const a = left[i] ?? Number.POSITIVE_INFINITY
    const b = right[j] ?? Number.POSITIVE_INFINITY
    ids[count++] = Math.min(a, b)
    if (a <= b) i++
    if (b <= a) j++
  }
  return ids.slice(0, count)
}
