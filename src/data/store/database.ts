import { LRUCache } from 'lru-cache'
import type { PreparedReply } from '../../http/replies/reply.ts'
import { parseDay } from './dates.ts'
import type { LoadedSnapshot } from './read-snapshot.ts'

/** Ids of entries: the id is the position among the visible entries. */
export type Selection = readonly number[]

/** Which entries a database serves. Functions are declared as methods, so that databases fit into one list. */
export interface Content<Entry extends object> {
  /** Entries that are not visible are in no reply and in no list of values. Default: all are. */
  isVisible?(entry: Entry): boolean
  /** The order in which they are served; default: that of the snapshot. */
  compare?(a: Entry, b: Entry): number
}

/** Maximum size of the cache of replies, bytes. */
const maxSize = 16 * 1024 * 1024
/** Estimated size of a cached reply without its key and body, bytes. */
const overhead = 200

/** Including its compressed form, which takes about half as much again at most. */
const replySize = ({ body, isCompressible }: PreparedReply, key: string): number =>
  Math.ceil((isCompressible ? 1.5 : 1) * body.length) + 2 * key.length + overhead

/** Normalises a text for comparison: lower case, and combining characters composed (NFC). */
export function fold(text: string): string {
  const lower = text.toLowerCase()
  // Below U+0300 nothing can be composed; this test is much cheaper than normalize().
  return /[\u0300-\uffff]/.test(lower) ? lower.normalize('NFC') : lower
}

function valuesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value
  if (value === null) return []
  return typeof value === 'object' ? Object.keys(value as object) : [String(value)]
}

/** A database: immutable, created from one snapshot, replaced as a whole. */
export class Database<Entry extends object = object> {
  readonly snapshot: LoadedSnapshot<Entry>
  /** When its content last changed, Unix seconds. */
  readonly modified: number
  /** Every visible entry. */
  readonly entries: readonly Entry[]
  readonly all: Selection
  /** Cached replies, by base path and URL; dropped with the snapshot. */
  readonly replies = new LRUCache<string, PreparedReply>({
    maxSize,
    // A single value must not evict all others.
    maxEntrySize: maxSize / 2,
    sizeCalculation: replySize,
  })
  readonly #columns = new Map<string, readonly unknown[]>()

  constructor(snapshot: LoadedSnapshot<Entry>, { isVisible = () => true, compare }: Content<Entry>, modified = 0) {
    this.snapshot = snapshot
    const visible = snapshot.entries.filter((entry) => isVisible(entry))
    this.entries = compare === undefined ? visible : visible.toSorted((a, b) => compare(a, b))
    this.all = [...this.entries.keys()]
    this.modified = modified
  }

  /** The JSON of a page: some entries of a selection in their envelope. */
  page(selection: Selection, offset: number, limit: number): string {
    const results = selection.slice(offset, offset + limit).map((id) => this.entries[id])
    return JSON.stringify({ results, count: results.length })
  }

  /** Returns the cached reply, or calls `make` and caches its result unless that is too large. */
  reply(key: string, make: () => PreparedReply): PreparedReply {
    const cached = this.replies.get(key)
    if (cached !== undefined) return cached
    const reply = make()
    this.replies.set(key, reply)
    return reply
  }

  /**
   * What a filter needs of each entry, by id. Computed at the first use.
   * @param name identifies it
   */
  column<T>(name: string, of: (entry: Entry) => T): readonly T[] {
    const column = (this.#columns.get(name) as readonly T[] | undefined) ?? this.entries.map(of)
    this.#columns.set(name, column)
    return column
  }

  /** The texts of a field, to be compared without letter case. */
  texts(field: string): readonly string[] {
    return this.column(`texts of ${field}`, (entry) => fold(String(entry[field as keyof Entry])))
  }

  values(field: string): readonly (readonly string[])[] {
    return this.column(`values of ${field}`, (entry) => valuesOf(entry[field as keyof Entry]))
  }

  /** The numbers of a field: of dates, the days since 1970-01-01. */
  numbers(field: string): readonly (number | undefined)[] {
    return this.column(`numbers of ${field}`, (entry) => {
      const value = entry[field as keyof Entry]
      return typeof value === 'string' ? parseDay(value) : typeof value === 'number' ? value : undefined
    })
  }
}
