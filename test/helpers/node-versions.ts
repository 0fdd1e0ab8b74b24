import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cachedFolder } from './user-cache.ts'

const run = promisify(execFile)
const source = join(import.meta.dirname, '..', 'nodes')

/**
 * Installs the versions of Node.js in `test/nodes`. All checkouts share them, because they take 20 seconds of CPU time to unpack.
 * @returns the path of the program of each version
 */
export async function nodeVersions(): Promise<(version: 'node-18' | 'node-20' | 'node-22' | 'node-24') => string> {
  const lockFile = readFileSync(join(source, 'package-lock.json'), 'utf8')
  const folder = await cachedFolder('nodes', lockFile, async (folder) => {
    console.error('installing the versions of Node.js ...')
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(source, name), join(folder, name))
    await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder })
  })
  return (version) => join(folder, 'node_modules', version, 'bin', 'node')
}
