import { distance } from 'fastest-levenshtein'

/** The closest name with an edit distance of at most `maxDistance`; undefined if there is none. */
export function closestName(given: string, names: Iterable<string>, maxDistance: number): string | undefined {
  let found: string | undefined
  let closest = maxDistance + 1
  for (const name of names) {
    // The distance is at least the difference in length.
    if (Math.abs(name.length - given.length) >= closest) continue
    const edits = distance(given, name)
    if (edits >= closest) continue
    found = name
    closest = edits
  }
  return found
}
