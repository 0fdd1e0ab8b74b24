import { systemClock } from '../util/clock.ts'
import { silentLog } from '../util/log.ts'
import type { DatabaseDeclaration } from './databases/declaration.ts'
import { defineDatabase } from './databases/declared.ts'
import { databases } from './databases/index.ts'
import type { DataSettings } from './settings.ts'
import type { EntryNote } from './store/read-snapshot.ts'
import { openStore } from './store/store.ts'

/** What is wrong with the snapshot of one database. */
export interface DatabaseCheck {
  readonly database: string
  /** Name of the file, or host and last segment of the URL. */
  readonly source: string
  /** Why it could not be loaded. */
  readonly error?: string
  readonly rejected: readonly EntryNote[]
  readonly warnings: readonly EntryNote[]
}

/** Loads every configured snapshot once and lists what is wrong with it. */
export async function checkDatabases(config: {
  readonly data: DataSettings
  readonly databases: readonly DatabaseDeclaration[]
}): Promise<readonly DatabaseCheck[]> {
  const all = [...databases, ...config.databases.map(defineDatabase)]
  const store = await openStore({ databases: all, settings: config.data, clock: systemClock, log: silentLog })
  try {
    return await store.check()
  } finally {
    await store.close()
  }
}
