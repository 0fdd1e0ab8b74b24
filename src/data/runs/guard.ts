import { join } from 'node:path'
import { lock } from 'proper-lockfile'

/**
 * Runs a short action that no other process on the folder runs at the same time, waiting for its turn. A process that was killed
 * in the middle holds the others up for five seconds.
 * @throws Error if the turn does not come within about ten seconds
 */
export async function withGuard<T>(folder: string, name: string, action: () => Promise<T>): Promise<T> {
  const guard = join(folder, `.${name}.guard`)
  // The library identifies what it holds by its first argument, so two guards need different ones.
  const release = await lock(guard, {
    lockfilePath: guard,
    realpath: false,
    stale: 5000,
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
