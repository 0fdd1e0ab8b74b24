import fs, { type Stats } from 'node:fs'
import { join } from 'node:path'
import { lock } from 'proper-lockfile'

/** A guard that has not changed for this long belongs to a process that was killed. Milliseconds. */
const staleMs = 5000

/** Number of guards that this process has tried to take. */
let taken = 0

/**
 * The `fs` option for one attempt to take a guard. The library compares the mtime of the guard with the local clock, but the
 * guard may be from a machine with another time. Here stat() reports how long this process has seen the guard unchanged.
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
 * Runs a short action while no other process that uses the folder runs it; waits for them. A process that was killed during it
 * delays the others by five seconds, even if the clocks of their machines differ.
 * @throws Error if the guard is not free within about ten seconds
 */
export async function withGuard<T>(folder: string, name: string, action: () => Promise<T>): Promise<T> {
  const guard = join(folder, `.${name}.guard`)
  // The library identifies a lock by its first argument. If that is not unique, and the guard is removed while it is held, the next
  // holder in this process and the first one share a state, and a timer of the library throws.
  const release = await lock(`${guard}.${++taken}`, {
    lockfilePath: guard,
    realpath: false,
    stale: staleMs,
    fs: fileSystemOf(),
    // After a suspend, or if the guard was removed. release() reports it too; throwing from a timer would end the process.
    onCompromised: () => undefined,
    retries: { retries: 60, factor: 1.2, minTimeout: 10, maxTimeout: 250, randomize: true },
  })
  try {
    return await action()
  } finally {
    await release().catch((error: NodeJS.ErrnoException) => {
      // Another process has taken it: nothing to release.
      if (error.code !== 'ERELEASED') throw error
    })
  }
}
