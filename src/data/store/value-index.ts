/** An index from values to entries. */
export interface ValueIndex {
  /** Ids of the entries with exactly this value (after `key`), ascending. */
  having(value: string): Uint32Array
  /** The distinct values as written, without empty ones, by code point. */
  readonly values: readonly string[]
}

const none = new Uint32Array()

/** UTF-8 sorts by code point, UTF-16 does not. */
const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** @param key maps values that are treated as equal to the same text */
export function valueIndex(key: (value: string) => string = (value) => value): {
  add(id: number, values: readonly string[]): void
  finish(): ValueIndex
} {
  const byKey = new Map<string, number[]>()
  const seen = new Map<string, number[]>()
  return {
    add(id, values) {
      for (const value of values) {
        let ids = seen.get(value)
        if (ids === undefined) {
          const found = byKey.get(key(value)) ?? []
          byKey.set(key(value), found)
          seen.set(value, found)
          ids = found
        }
        // An entry may contain a value twice.
        if (ids[ids.length - 1] !== id) ids.push(id)
      }
    },
    finish() {
      const index = new Map([...byKey].map(([value, ids]) => [value, new Uint32Array(ids)]))
      const values = [...seen.keys()].filter((value) => value !== '').sort(byCodePoint)
      return indexOf(index, values, key)
    },
  }
}

/** A separate function, so that its closure does not keep the variables of the builder alive. */
const indexOf = (
  index: ReadonlyMap<string, Uint32Array>,
  values: readonly string[],
  key: (value: string) => string,
): ValueIndex => ({ having: (value) => index.get(key(value)) ?? none, values })
