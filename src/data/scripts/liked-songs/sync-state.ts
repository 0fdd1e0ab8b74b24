import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '../../../util/schema.ts'
import { readStateFile, writeStateFile } from '../state-file.ts'
import { clampRetryAt } from '../waits.ts'

const fileOf = (dataDir: string): string => join(dataDir, 'likedsongs.state.json')

/** What a run leaves for the next one. */
const SyncState = Type.Object({
  /** End of a rate limit, Unix milliseconds; 0 if there is none. */
  retryAt: Type.Number(),
  /** Songs older than those of the journal may be missing: the next run reads the whole list. */
  isIncomplete: Type.Boolean(),
})
type SyncState = Static<typeof SyncState>

export async function readSyncState(dataDir: string): Promise<SyncState> {
  const file = fileOf(dataDir)
  const state = await readStateFile(file, SyncState, 65_536).catch(() => undefined)
  if (state === undefined) return { retryAt: 0, isIncomplete: false }
  return { ...state, retryAt: clampRetryAt(state.retryAt, (await stat(file)).mtimeMs) }
}

export const storeSyncState = (dataDir: string, state: SyncState): Promise<void> => writeStateFile(fileOf(dataDir), state)
