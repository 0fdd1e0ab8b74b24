import { LRUCache } from 'lru-cache'
import type { PreparedReply } from '../../http/replies/reply.ts'
import { type Entries, entryWriter } from './entries.ts'
import type { SnapshotHead } from './read-snapshot.ts'
import type { Selection } from './selection.ts'

/** Base of every database: immutable, created from one snapshot, replaced as a whole. */
export interface Database extends SnapshotHead {
  /** Number of valid entries, including hidden ones. */
  readonly accepted: number
  /** The visible entries. */
  readonly entries: Entries
  /** Cached filter results and replies; dropped with the snapshot. */
  readonly selections: LRUCache<string, Selection>
  readonly replies: LRUCache<string, PreparedReply>
}

/** Builds a database from entries added one by one, so that they need not all be in memory. */
export interface Builder<Entry, D> {
  add(entry: Entry): void
  finish(head: SnapshotHead): D
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

/** Creates the builder of the common part of every database. */
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
