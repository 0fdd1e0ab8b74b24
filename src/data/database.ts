import { LRUCache } from 'lru-cache'
import type { PreparedReply } from '../http/reply.ts'
import { type Entries, entryWriter } from './entries.ts'
import type { SnapshotHead } from './read-snapshot.ts'
import type { Selection } from './selection.ts'

/** What every database has: immutable, made from one snapshot, replaced as a whole. */
export interface Database extends SnapshotHead {
  /** Entries that were accepted, hidden ones included. */
  readonly accepted: number
  /** Those that may be shown. */
  readonly entries: Entries
  /** Results of filters, and replies made from them: gone with the snapshot. */
  readonly selections: LRUCache<string, Selection>
  readonly replies: LRUCache<string, PreparedReply>
}

/** Makes a database of entries given one after the other, so that they need not be in memory all at once. */
export interface Builder<Entry, D> {
  add(entry: Entry): void
  finish(head: SnapshotHead): D
}

/** Largest size of one cache, in bytes. */
const maxSize = 16 * 1024 * 1024
/** What an entry takes besides its key and value. */
const overhead = 200

const createCache = <V extends object>(sizeOf: (value: V) => number) =>
  new LRUCache<string, V>({
    maxSize,
    // One value may not evict all others.
    maxEntrySize: maxSize / 2,
    sizeCalculation: (value, key) => sizeOf(value) + 2 * key.length + overhead,
  })

/** With its compressed form, which takes at most about half as much again. */
const replySize = ({ body, isCompressible }: PreparedReply): number => Math.ceil((isCompressible ? 1.5 : 1) * body.length)

/** The cached value, else that of `make`, which is cached unless it is too large on its own. */
export function remember<V extends object>(cache: LRUCache<string, V>, key: string, make: () => V): V {
  const cached = cache.get(key)
  if (cached !== undefined) return cached
  const value = make()
  cache.set(key, value)
  return value
}

/** What every database has. */
export function baseBuilder<Entry extends object>(): {
  add(entry: Entry, shown: boolean): void
  finish(head: SnapshotHead): Database
} {
  const writer = entryWriter()
  let accepted = 0
  return {
    add(entry, shown) {
      accepted++
      if (shown) writer.add(entry)
    },
    finish: ({ lastUpdate, sample }) => ({
      lastUpdate,
      sample,
      accepted,
      entries: writer.finish(),
      selections: createCache(({ ids }) => ids?.byteLength ?? 0),
      replies: createCache(replySize),
    }),
  }
}
