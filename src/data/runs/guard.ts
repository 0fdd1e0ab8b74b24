import fs, { type Stats } from 'node:fs'
import { join } from 'node:path'
import { lock } from 'proper-lockfile'

/** A guard that has not changed for this long was left by a process that was killed. Milliseconds. */
const staleMs = 5000

/**
 * The file system for one attempt to take a guard. The library compares the time of another one's guard with the clock of this
 * machine, which may be an hour off: it gets the time for which the guard has not changed, as this process has seen it.
 */
function fileSystemOf(): object {
  let isHeld = false
  let seen: { readonly state: string; readonly since: number } | undefined

  function withObservedTime(stats: Stats): Stats {
    const state = `${stats.ino} ${stats.mtimeMs}`
    if (seen?.state !== state) seen = { state, since: performance.now() }
    return Object.assign(stats, { mtime: new Date(Date.now() - (performance.now() - seen.since)) })
  }

  return {
    ...fs,
    mkdir: (path: string, done: (error: Error | null) => void) =>
      fs.mkdir(path, (error) => {
        isHeld ||= error === null
        done(error)
      }),
    stat: (path: string, done: (error: Error | null, stats?: Stats) => void) =>
      fs.stat(path, (error, stats) => {
        if (error !== null) done(error)
        else done(null, isHeld ? stats : withObservedTime(stats))
      }),
  }
}

/**
 * Runs a short action that no other process on the folder runs at the same time, waiting for its turn. A process that was killed
 * in the middle delays the others by five seconds, whatever the clocks of their machines say.
 * @throws Error if the turn does not come within about ten seconds
 */
export async function withGuard<T>(folder: string, name: string, action: () => Promise<T>): Promise<T> {
  const guard = join(folder, `.${name}.guard`)
  // The library identifies what it holds by its first argument, so two guards need different ones.
  const release = await lock(guard, {
    lockfilePath: guard,
    realpath: false,
    stale: staleMs,
    fs: fileSystemOf(),
    // After a suspend, or if somebody removed the guard. release() reports it too, and a throw from a timer ends the process.
    onCompromised: () => undefined,
    retries: { retries: 60, factor: 1.2, minTimeout: 10, maxTimeout: 250, randomize: true },
  })
  try {
    return await action()
  } finally {
    await release().catch((error: NodeJS.ErrnoException) => {
      // Somebody else took it: there is nothing to release.
      if (error.code !== 'ERELEASED') throw error
    })
  }
}
