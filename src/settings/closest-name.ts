/**
 * Minimum number of characters to insert, remove, replace or swap with their neighbour to turn one name into the other (optimal
 * string alignment distance).
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const next = [row]
    for (let column = 1; column <= b.length; column++) {
      const at = (line: readonly number[], index: number) => line[index] ?? Number.POSITIVE_INFINITY
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1)
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      const swapped = isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(replaced, swapped, at(last, column) + 1, at(next, column - 1) + 1))
    }
    beforeLast = last
    last = next
  }
  return last[b.length] ?? 0
}

/** The closest name with an edit distance of at most `maxDistance`; undefined if there is none. */
export function closestName(given: string, names: Iterable<string>, maxDistance: number): string | undefined {
  let found: string | undefined
  let closest = maxDistance + 1
  for (const name of names) {
    // The distance is at least the difference in length.
    if (Math.abs(name.length - given.length) >= closest) continue
    const distance = editDistance(given, name)
    if (distance >= closest) continue
    found = name
    closest = distance
  }
  return found
}
