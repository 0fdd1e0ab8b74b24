import { lstat, mkdtemp, readdir, rm, rmdir, unlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'tickwarden-'
const socketName = 'primary.sock'
/** The names that mkdtemp creates. */
const folderName = new RegExp(`^${prefix}[A-Za-z0-9]{6}$`)
/** Milliseconds after which a socket that refuses connections is stale: a process binds it shortly before it listens. */
const minAgeMs = 60_000

/** Whether the process that listened on the socket has ended. A suspended process still accepts connections. */
function isAbandoned(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
}

async function removeIfStale(folder: string, now: number): Promise<void> {
  const user = process.geteuid?.()
  const own = await lstat(folder)
  // Not through a symbolic link, and no folder that another user has created or can change.
  if (!own.isDirectory() || own.uid !== user || (own.mode & 0o077) !== 0 || now - own.mtimeMs < minAgeMs) return
  if ((await readdir(folder)).join() !== socketName) return
  const path = join(folder, socketName)
  const socket = await lstat(path)
  if (!socket.isSocket() || socket.uid !== user || !(await isAbandoned(path))) return
  await unlink(path)
  // Fails if the folder is not empty.
  await rmdir(folder)
}

/**
 * Removes the folders of processes that were killed. Never rejects.
 * @param parent the folder that contains them
 * @param now Unix milliseconds
 */
export async function removeStaleSocketFolders(parent = tmpdir(), now = Date.now()): Promise<void> {
  const names = await readdir(parent).catch(() => [])
  for (const name of names) {
    // One that cannot be removed does not prevent the start.
    if (folderName.test(name)) await removeIfStale(join(parent, name), now).catch(() => {})
  }
}

/** The socket on which the primary process serves the workers. */
export interface PrimarySocket {
  readonly path: string
  /** Removes its folder. */
  remove(): Promise<void>
}

/** Creates a folder for the socket that only this user can open, and removes those of processes that were killed. */
export async function createPrimarySocket(): Promise<PrimarySocket> {
  await removeStaleSocketFolders()
  const folder = await mkdtemp(join(tmpdir(), prefix))
  return { path: join(folder, socketName), remove: () => rm(folder, { recursive: true, force: true }) }
}
