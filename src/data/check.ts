import { systemClock } from '../util/clock.ts'
import { silentLog } from '../util/log.ts'
import type { DatabaseDeclaration } from './databases/declaration.ts'
import { defineDatabase } from './databases/declared.ts'
import { databases } from './databases/index.ts'
import type { DataSettings } from './settings.ts'
import { type DatabaseCheck, openStore } from './store/store.ts'

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
