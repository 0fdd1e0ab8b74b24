// Installs a folder of the project that has a package.json and a lock file of its own, unless it is installed already as the lock file says.
// Kept apart from the project's own dependencies so that a user's install stays small.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @param {string} name the folder from the project's root, e.g. `test/peers` */
export function ensure(name) {
  const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', name)
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')
  const mark = join(folder, 'node_modules', '.installed')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return
  console.error(`installing ${name} (only when its lock file changes) ...`)
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error(`npm ci in ${name} failed with exit code ${status}`)
  writeFileSync(mark, wanted)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) for (const name of process.argv.slice(2)) ensure(name)
