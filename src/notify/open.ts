import { readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createFolder } from '../util/create-folder.ts'
import { holdLock } from '../util/file-lock.ts'
import type { Log } from '../util/log.ts'
import type { SharedState } from '../util/part-metrics.ts'
import type { NotifierOptions } from './channel-notifier.ts'
import { Notifier } from './notifier.ts'
import { FileOutbox } from './outbox.ts'
import { SharedOutbox } from './shared-outbox.ts'

export interface OpenNotifierOptions extends Omit<NotifierOptions, 'openOutbox'> {
  /** HISTORY_DIR or DATA_DIR; absent: notifications are kept in memory only. */
  readonly stateFolder?: string | undefined
  /** With several replicas: what they share instead of the folder. */
  readonly shared?: SharedState | undefined
}

/**
 * Creates and locks the folder of the notifications, waiting for a process that ends.
 * @returns undefined if there is no usable folder, which is logged
 */
async function openFolder(stateFolder: string | undefined, log: Log) {
  const lost = 'notifications that wait are lost when the service stops'
  if (stateFolder === undefined) {
    log.warn(`No data folder is set, so ${lost}; set HISTORY_DIR to keep them.`)
    return undefined
  }
  const folder = join(resolve(stateFolder), 'notify')
  try {
    await createFolder(folder, 0o700)
    const release = await holdLock(join(folder, '.lock'), (reason) =>
      log.error({ folder, reason }, `${folder}: another process may send the same notifications`),
    )
    // Of a process that was killed while it wrote.
    for (const name of await readdir(folder)) if (/\.json\.\d+$/.test(name)) await rm(join(folder, name))
    return { folder, release }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ELOCKED')
      throw new Error(`${folder} is used by another process, which would send the same notifications; set another HISTORY_DIR`)
    log.warn({ folder, reason: code ?? message }, `${folder} cannot be used (${code ?? message}), so ${lost}`)
    return undefined
  }
}

/**
 * Starts to tell the channels. Notifications of an earlier process are delivered.
 * @throws Error if another process uses the folder
 */
export async function openNotifier({
  stateFolder,
  shared,
  ...options
}: OpenNotifierOptions): Promise<Pick<Notifier, 'close' | 'metrics'>> {
  const { log, clock } = options
  const place = shared === undefined ? await openFolder(stateFolder, log) : undefined
  const notifier = await Notifier.open({
    ...options,
    openOutbox: async ({ name }) =>
      shared === undefined
        ? FileOutbox.open({ folder: place?.folder, channel: name, log, clock })
        : new SharedOutbox({
            channel: name,
            queue: shared.queue(`notify:${name}`),
            values: shared.values('notify'),
            takeLock: () => shared.locks.take(`notify:${name}`),
            clock,
          }),
  })
  return {
    metrics: () => notifier.metrics(),
    async close() {
      await notifier.close()
      await place?.release()
    },
  }
}
