/** Ids of entries, ascending: the id is the position among the visible entries. */
export type Selection = Uint32Array

/** Normalises a text for comparison: lower case, and combining characters composed (NFC). */
export function fold(text: string): string {
  const lower = text.toLowerCase()
  // Below U+0300 nothing can be composed; this test is much cheaper than normalize().
  return /[\u0300-\uffff]/.test(lower) ? lower.normalize('NFC') : lower
}

/** Index of the first item of an ascending list for which `isAbove` is true; its length if there is none. */
function firstAbove(list: ArrayLike<number>, isAbove: (value: number) => boolean): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isAbove(list[middle] ?? Number.NaN)) high = middle
    else low = middle + 1
  }
  return low
}

const separator = '\n'

/**
 * One text of every entry, for substring search. All texts are in one string: a search is one native scan instead of a call per
 * entry (`npm run bench -- data`). A hit that extends into the next text is ignored.
 */
export class TextColumn {
  readonly #joined: string
  /** Where each text starts, and the end of the last one. */
  readonly #starts: Uint32Array

  constructor(texts: readonly string[]) {
    const folded = texts.map(fold)
    this.#joined = folded.join(separator)
    this.#starts = new Uint32Array(texts.length + 1)
    folded.forEach(({ length }, id) => {
      this.#starts[id + 1] = (this.#starts[id] ?? 0) + length + separator.length
    })
  }

  /** The entries whose text contains the query; all for an empty query. */
  find(query: string): Selection {
    const wanted = fold(query)
    const ids: number[] = []
    const count = this.#starts.length - 1
    let id = 0
    for (let hit = count === 0 ? -1 : this.#joined.indexOf(wanted); hit !== -1; ) {
      id = this.#textAt(hit, id)
      const next = this.#starts[id + 1] ?? 0
      const isInside = hit + wanted.length < next
      if (isInside) ids.push(id)
      if (isInside && id + 1 === count) break
      hit = this.#joined.indexOf(wanted, isInside ? next : hit + 1)
    }
    return new Uint32Array(ids)
  }

  /** The id of the text at a position; it is at least `id`. */
  #textAt(position: number, id: number): number {
    const starts = this.#starts
    // Frequent hits are close to each other, so try a few texts before the binary search.
    for (let near = id; near < id + 8; near++) if ((starts[near + 1] ?? Number.POSITIVE_INFINITY) > position) return near
    return firstAbove(starts, (start) => start > position) - 1
  }
}

const none = new Uint32Array()

/** UTF-8 sorts by code point, UTF-16 does not. */
const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** An index from values to entries. */
export class ValueIndex {
  /** The distinct values as written, without empty ones, by code point. */
  readonly values: readonly string[]
  readonly #ids: ReadonlyMap<string, Selection>
  readonly #key: (value: string) => string

  /** @param key maps values that are treated as equal to the same text */
  constructor(lists: readonly (readonly string[])[], key: (value: string) => string = (value) => value) {
    const byKey = new Map<string, number[]>()
    const seen = new Map<string, number[]>()
    lists.forEach((values, id) => {
      for (const value of values) {
        let ids = seen.get(value)
        if (ids === undefined) {
          ids = byKey.get(key(value)) ?? []
          byKey.set(key(value), ids)
          seen.set(value, ids)
        }
        // An entry may contain a value twice.
        if (ids.at(-1) !== id) ids.push(id)
      }
    })
    this.#key = key
    this.#ids = new Map([...byKey].map(([value, ids]) => [value, new Uint32Array(ids)]))
    this.values = [...seen.keys()].filter((value) => value !== '').sort(byCodePoint)
  }

  /** The entries with exactly this value. */
  having(value: string): Selection {
    return this.#ids.get(this.#key(value)) ?? none
  }
}

/** An optional number of every entry (a day, a time), for ranges. */
export class NumberColumn {
  readonly #sorted: Float64Array
  /** The entry of each sorted number. */
  readonly #ids: Uint32Array

  constructor(numbers: readonly (number | undefined)[]) {
    const ids = [...numbers.keys()].filter((id) => numbers[id] !== undefined && !Number.isNaN(numbers[id]))
    ids.sort((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0))
    this.#ids = new Uint32Array(ids)
    this.#sorted = Float64Array.from(ids, (id) => numbers[id] ?? 0)
  }

  /** The entries whose number is in [min, max]; those without a number are in no range. */
  between(min: number, max: number): Selection {
    const from = firstAbove(this.#sorted, (value) => value >= min)
    const to = firstAbove(this.#sorted, (value) => value > max)
    return this.#ids.slice(from, Math.max(from, to)).sort()
  }
}

/** The entries that are in either selection. */
export const union = (left: Selection, right: Selection): Selection => new Uint32Array(new Set([...left, ...right])).sort()

/** The entries that are in both selections. */
export function intersection(left: Selection, right: Selection): Selection {
  const others = new Set(right)
  return left.filter((id) => others.has(id))
}

/** By what entries are sorted; undefined: last, in either direction. */
export type SortKey = string | number | undefined

export function compareKeys(a: SortKey, b: SortKey, isDescending: boolean): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a < b === isDescending ? 1 : -1
}

/** The order of the entries by one field. */
export class SortColumn {
  readonly #keys: readonly SortKey[]

  constructor(keys: readonly SortKey[]) {
    this.#keys = keys
  }

  /** Compares two entries by their ids. */
  compare(a: number, b: number, isDescending: boolean): number {
    return compareKeys(this.#keys[a], this.#keys[b], isDescending)
  }
}
