// Installs test/<folder> (a package with its own lock file) unless it is installed already as the lock file says.
// Kept apart from the project's own dependencies so that a user's install stays small.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @param {string} name a folder of test/ that holds package.json and package-lock.json */
export function ensure(name) {
  const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), name)
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')
  const mark = join(folder, 'node_modules', '.installed')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return
  console.error(`installing test/${name} (only when its lock file changes) ...`)
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error(`npm ci in test/${name} failed with exit code ${status}`)
  writeFileSync(mark, wanted)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) for (const name of process.argv.slice(2)) ensure(name)
