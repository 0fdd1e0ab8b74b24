/** Ids of entries, ascending: the id is the position among the visible entries. */
export type Selection = Uint32Array

/** Normalises a text for comparison: lower case, and combining characters composed (NFC). */
export function fold(text: string): string {
  const lower = text.toLowerCase()
  // Below U+0300 nothing can be composed; this test is much cheaper than normalize().
  return /[\u0300-\uffff]/.test(lower) ? lower.normalize('NFC') : lower
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
    const starts = this.#starts
    let id = 0
    for (let hit = this.#joined.indexOf(wanted); hit !== -1 && id + 1 < starts.length; ) {
      while ((starts[id + 1] ?? hit + 1) <= hit) id++
      const end = starts[id + 1] ?? 0
      const isInside = hit + wanted.length < end
      hit = this.#joined.indexOf(wanted, isInside ? end : hit + 1)
      if (isInside) ids.push(id++)
    }
    return new Uint32Array(ids)
  }
}

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
    const distinct = new Set<string>()
    lists.forEach((values, id) => {
      for (const value of values) {
        distinct.add(value)
        const ids = byKey.get(key(value))
        if (ids === undefined) byKey.set(key(value), [id])
        // An entry may contain a value twice.
        else if (ids.at(-1) !== id) ids.push(id)
      }
    })
    this.#key = key
    this.#ids = new Map([...byKey].map(([value, ids]) => [value, new Uint32Array(ids)]))
    this.values = [...distinct].filter((value) => value !== '').sort(byCodePoint)
  }

  /** The entries with exactly this value. */
  having(value: string): Selection {
    return this.#ids.get(this.#key(value)) ?? new Uint32Array()
  }
}

/** An optional number of every entry (a day, a time), for ranges. */
export class NumberColumn {
  /** NaN: none. */
  readonly #numbers: Float64Array

  constructor(numbers: readonly (number | undefined)[]) {
    this.#numbers = Float64Array.from(numbers, (number = Number.NaN) => number)
  }

  /** The entries whose number is in [min, max]; those without a number are in no range. */
  between(min: number, max: number): Selection {
    const ids: number[] = []
    for (let id = 0; id < this.#numbers.length; id++) {
      const number = this.#numbers[id] ?? Number.NaN
      if (number >= min && number <= max) ids.push(id)
    }
    return new Uint32Array(ids)
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
