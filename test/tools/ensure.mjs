// Installs a folder of the project that has a package.json and a lock file of its own, unless it is installed already as the lock file says.
// Kept apart from the project's own dependencies so that a user's install stays small.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lock } from 'proper-lockfile'

/** @param {string} name the folder from the project's root, e.g. `test/peers` */
export async function ensure(name) {
  const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', name)
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')
  const mark = join(folder, 'node_modules', '.installed')
  const isInstalled = () => existsSync(mark) && readFileSync(mark, 'utf8') === wanted
  if (isInstalled()) return
  // Test files run at the same time: the others wait while one installs the folder.
  const retries = { forever: true, factor: 1, minTimeout: 200 }
  const release = await lock(folder, { lockfilePath: join(folder, '.installing'), retries })
  try {
    if (isInstalled()) return
    await install(name, folder)
    writeFileSync(mark, wanted)
  } finally {
    await release()
  }
}

async function install(name, folder) {
  console.error(`installing ${name} (only when its lock file changes) ...`)
  const npm = spawn('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(npm, 'exit')
  if (code !== 0) throw new Error(`npm ci in ${name} failed with exit code ${code}`)
}

const script = fileURLToPath(import.meta.url)
if (process.argv[1] === script) await Promise.all(process.argv.slice(2).map(ensure))
