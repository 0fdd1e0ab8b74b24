import type { PreparedReply } from '../http/reply.ts'
import { type Entries, entryWriter } from './entries.ts'
import { type Memory, memory } from './lru.ts'
import type { SnapshotHead } from './read-snapshot.ts'
import type { Selection } from './selection.ts'

/** What every database has: immutable, made from one snapshot, replaced as a whole. */
export interface Database extends SnapshotHead {
  /** Entries that were accepted, hidden ones included. */
  readonly accepted: number
  /** Those that may be shown. */
  readonly entries: Entries
  /** Results of filters, and replies made from them: they die with the snapshot. */
  readonly selections: Memory<Selection>
  readonly replies: Memory<PreparedReply>
}

/** Makes a database of entries given one after the other, so that they need not be in memory all at once. */
export interface Builder<Entry, D> {
  add(entry: Entry): void
  finish(head: SnapshotHead): D
}

const weighReply = ({ body }: PreparedReply): number => body.length
const rememberedBytes = 16 * 1024 * 1024

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
      selections: memory(rememberedBytes, ({ ids }) => ids?.byteLength ?? 0),
      replies: memory(rememberedBytes, weighReply),
    }),
  }
}
