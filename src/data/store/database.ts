import { LRUCache } from 'lru-cache'
import type { PreparedReply } from '../../http/replies/reply.ts'
import { fold, NumberColumn, type Selection, type SortKey, TextColumn, ValueIndex } from './columns.ts'
import type { LoadedSnapshot, SnapshotHead } from './read-snapshot.ts'

/** What a filter needs of every entry: a text that may contain another one, whole values, a number in a range, or an order. */
export type Column<Entry> =
  | { text(entry: Entry): string }
  | { values(entry: Entry): readonly string[]; readonly ignoreCase?: true }
  | { number(entry: Entry): number | undefined }
  | { sort(entry: Entry): SortKey }

type AnyColumn = TextColumn | ValueIndex | NumberColumn | SortKey[]

/** How the entries of a database are searched. Functions are declared as methods, so that databases fit into one list. */
export interface Content<Entry extends object> {
  columns(): Readonly<Record<string, Column<Entry>>>
  /** Entries that are not visible are in no reply and in no list of values. Default: all are. */
  isVisible?(entry: Entry): boolean
  /** Facts about all visible entries, such as their number. */
  summarise?(entries: readonly Entry[]): object
  /** The order in which they are served; default: that of the snapshot. */
  compare?(a: Entry, b: Entry): number
}

/** Maximum size of one cache, bytes. */
const maxSize = 16 * 1024 * 1024
/** Estimated size of a cache entry without its key and value, bytes. */
const overhead = 200

const createCache = <V extends object>(sizeOf: (value: V) => number) =>
  new LRUCache<string, V>({
    maxSize,
    // A single value must not evict all others.
    maxEntrySize: maxSize / 2,
    sizeCalculation: (value, key) => sizeOf(value) + 2 * key.length + overhead,
  })

/** Including its compressed form, which takes about half as much again at most. */
const replySize = ({ body, isCompressible }: PreparedReply): number => Math.ceil((isCompressible ? 1.5 : 1) * body.length)

/** Returns the cached value, or calls `make` and caches its result unless that is too large. */
export function remember<V extends object>(cache: LRUCache<string, V>, key: string, make: () => V): V {
  const cached = cache.get(key)
  if (cached !== undefined) return cached
  const value = make()
  cache.set(key, value)
  return value
}

/** A database: immutable, created from one snapshot, replaced as a whole. */
export class Database implements SnapshotHead {
  readonly lastUpdate: SnapshotHead['lastUpdate']
  readonly sample: boolean
  /** When it was loaded or its content last changed, Unix seconds. */
  readonly modified: number
  /** Number of valid entries, including hidden ones. */
  readonly accepted: number
  /** Every visible entry. */
  readonly all: Selection
  readonly summary: object
  /** Cached filter results and replies (by base path and URL); dropped with the snapshot. */
  readonly selections = createCache<Selection>(({ byteLength }) => byteLength)
  readonly replies = createCache<PreparedReply>(replySize)
  /** The JSON of each visible entry. */
  readonly #rows: readonly string[]
  readonly #columns: ReadonlyMap<string, AnyColumn>

  constructor(
    snapshot: Pick<LoadedSnapshot<object>, 'entries' | 'lastUpdate' | 'sample'>,
    content: Content<object>,
    modified = 0,
  ) {
    const { isVisible = () => true, compare } = content
    const visible = snapshot.entries.filter((entry) => isVisible(entry))
    const entries = compare === undefined ? visible : visible.toSorted((a, b) => compare(a, b))
    this.lastUpdate = snapshot.lastUpdate
    this.sample = snapshot.sample
    this.modified = Math.max(modified, snapshot.lastUpdate.time)
    this.accepted = snapshot.entries.length
    this.all = Uint32Array.from(entries.keys())
    this.summary = content.summarise?.(entries) ?? {}
    this.#rows = entries.map((entry) => JSON.stringify(entry))
    const create = (column: Column<object>) => {
      if ('text' in column) return new TextColumn(entries.map(column.text))
      if ('number' in column) return new NumberColumn(entries.map(column.number))
      if ('sort' in column) return entries.map(column.sort)
      return new ValueIndex(entries.map(column.values), column.ignoreCase ? fold : undefined)
    }
    this.#columns = new Map(Object.entries(content.columns()).map(([name, column]) => [name, create(column)]))
  }

  /** The JSON of a page: some entries of a selection in their envelope. */
  page(selection: Selection, offset: number, limit: number): string {
    const rows = Array.from(selection.subarray(offset, offset + limit), (id) => this.#rows[id])
    return `{"results":[${rows.join(',')}],"count":${rows.length}}`
  }

  text(name: string): TextColumn {
    return this.#column(name, TextColumn)
  }

  values(name: string): ValueIndex {
    return this.#column(name, ValueIndex)
  }

  number(name: string): NumberColumn {
    return this.#column(name, NumberColumn)
  }

  /** What the entries are sorted by, by their ids. */
  keys(name: string): readonly SortKey[] {
    return this.#column(name, Array<SortKey>)
  }

  #column<C extends AnyColumn>(name: string, type: abstract new (...args: never[]) => C): C {
    const column = this.#columns.get(name)
    if (column instanceof type) return column
    throw new Error(`no column ${name} for this filter`)
  }
}
