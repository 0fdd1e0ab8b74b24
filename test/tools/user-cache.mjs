import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { lock } from 'proper-lockfile'

/** What clean checkouts share, because it takes long to make: `.ci/run` puts helm there. */
export const userCache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tickwarden')

/**
 * A folder in the cache of the user that is filled once, and afterwards only read. Test files and checkouts that need it at the same
 * time wait for each other.
 * @param {string} name
 * @param {string} key everything that decides the content
 * @param {(folder: string) => Promise<unknown>} fill is called with the empty folder, which keeps its path
 */
export async function cachedFolder(name, key, fill, cache = userCache) {
  const folder = join(cache, `${name}-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`)
  const mark = join(folder, '.complete')
  if (existsSync(mark)) return folder
  mkdirSync(cache, { recursive: true })
  const release = await lock(folder, { realpath: false, retries: { forever: true, minTimeout: 100, maxTimeout: 100 } })
  try {
    if (existsSync(mark)) return folder
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    await fill(folder)
    writeFileSync(mark, '')
    return folder
  } finally {
    await release()
  }
}
