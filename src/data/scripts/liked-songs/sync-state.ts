import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { readFileUpTo } from '../../../util/files.ts'
import { parseJson } from '../../../util/json.ts'
import { clampRetryAt } from '../waits.ts'

const fileOf = (dataDir: string): string => join(dataDir, 'likedsongs.state.json')

/** What a run leaves for the next one. */
export interface SyncState {
  /** End of a rate limit, Unix milliseconds; 0 if there is none. */
  readonly retryAt: number
  /** Where a walk through the liked songs ended early. */
  readonly resumeAt?: number | undefined
}

export async function readSyncState(dataDir: string): Promise<SyncState> {
  try {
    const file = fileOf(dataDir)
    const { retryAt, resumeAt } = parseJson(String(await readFileUpTo(file, 65_536))) as Readonly<Record<string, unknown>>
    const { mtimeMs } = await stat(file)
    return {
      retryAt: typeof retryAt === 'number' ? clampRetryAt(retryAt, mtimeMs) : 0,
      ...(Number.isSafeInteger(resumeAt) && { resumeAt: Number(resumeAt) }),
    }
  } catch {
    return { retryAt: 0 }
  }
}

export const storeSyncState = (dataDir: string, state: SyncState): Promise<void> =>
  writeFileAtomic(fileOf(dataDir), `${JSON.stringify(state)}\n`)
