import { access, constants, mkdir, mkdtemp, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )

/**
 * Creates a folder and its parents one by one: Node's recursive mkdir never returns below /proc.
 * @param mode permissions of the folders that are created
 * @throws Error of the system
 */
export async function createFolder(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    const parent = dirname(path)
    if (code !== 'ENOENT' || (await exists(parent))) throw error
    await createFolder(parent, mode)
    await mkdir(path, { mode })
  }
}

/**
 * Checks that files can be created in a folder, with a temporary folder: on /proc and /sys, access() reports that root may write, but
 * writing fails.
 * @throws Error of the system
 */
export async function checkWritable(path: string): Promise<void> {
  await access(path, constants.W_OK)
  await rmdir(await mkdtemp(join(path, '.probe-')))
}
