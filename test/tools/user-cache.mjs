import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { lock } from 'proper-lockfile'

export const userCache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tickwarden')

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
