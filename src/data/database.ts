import { setImmediate as breathe } from 'node:timers/promises'
import type { PreparedReply } from '../http/reply.ts'
import { type Entries, entryWriter } from './entries.ts'
import type { LastUpdate, LoadedSnapshot } from './load.ts'
import { type Memory, memory } from './lru.ts'
import type { Selection } from './selection.ts'

/** What every database has: immutable, made from one snapshot, replaced as a whole. */
export interface Database {
  readonly lastUpdate: LastUpdate
  readonly sample: boolean
  /** Entries that were accepted, hidden ones included. */
  readonly accepted: number
  /** Those that may be shown. */
  readonly entries: Entries
  /** Results of filters, and replies made from them: they die with the snapshot. */
  readonly selections: Memory<Selection>
  readonly replies: Memory<PreparedReply>
}

const rememberedBytes = 16 * 1024 * 1024

/** Serialises the entries to be shown; lets other work of the process have its turn in between. */
export async function baseOf<Entry>(
  { lastUpdate, sample, entries }: LoadedSnapshot<Entry>,
  shown: readonly Entry[] = entries,
): Promise<Database> {
  const writer = entryWriter(shown.length)
  for (const [index, entry] of shown.entries()) {
    writer.add(entry)
    if (index % 2000 === 1999) await breathe()
  }
  return {
    lastUpdate,
    sample,
    accepted: entries.length,
    entries: writer.finish(),
    selections: memory(rememberedBytes, ({ ids }) => ids?.byteLength ?? 0),
    replies: memory(rememberedBytes, ({ body }) => body.length),
  }
}
