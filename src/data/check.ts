import { systemClock } from '../util/clock.ts'
import { silentLog } from '../util/log.ts'
import type { DatabaseDeclaration } from './databases/declaration.ts'
import { defineDatabase } from './databases/declared.ts'
import { placeOf } from './databases/definition.ts'
import { databases } from './databases/index.ts'
import type { DatabaseStatus } from './routes/schemas.ts'
import type { DataSettings } from './settings.ts'
import { openStore } from './store/store.ts'

/** Loads every snapshot once and lists what is wrong with it. A file that is missing in DATA_DIR, which has other uses too, is none. */
export async function checkDatabases(config: {
  readonly data: DataSettings
  readonly databases: readonly DatabaseDeclaration[]
}): Promise<readonly DatabaseStatus[]> {
  const all = [...databases, ...config.databases.map(defineDatabase)]
  const store = await openStore({ databases: all, settings: config.data, clock: systemClock, log: silentLog })
  try {
    const isOptional = (database: string) =>
      all.some((definition) => definition.name === database && placeOf(definition, config.data) === undefined)
    const found = await store.firstStatus()
    return found.filter(({ database, error }) => error !== 'the file does not exist' || !isOptional(database))
  } finally {
    await store.close()
  }
}
