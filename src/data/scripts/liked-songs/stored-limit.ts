import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { readFileUpTo } from '../../../util/files.ts'
import { parseJson } from '../../../util/json.ts'
import { clampRetryAt } from '../waits.ts'

const fileOf = (dataDir: string): string => join(dataDir, 'likedsongs.state.json')

/** End of a rate limit that the previous run reached, Unix milliseconds; 0 if there is none. */
export async function readRetryAt(dataDir: string): Promise<number> {
  try {
    const file = fileOf(dataDir)
    const { retryAt } = parseJson(String(await readFileUpTo(file, 65_536))) as { retryAt?: unknown }
    const { mtimeMs } = await stat(file)
    return typeof retryAt === 'number' ? clampRetryAt(retryAt, mtimeMs) : 0
  } catch {
    return 0
  }
}

/** Stores the end of a rate limit, Unix milliseconds. */
export const storeRetryAt = (dataDir: string, retryAt: number): Promise<void> =>
  writeFileAtomic(fileOf(dataDir), `${JSON.stringify({ retryAt })}\n`)
