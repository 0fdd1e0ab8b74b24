// Installs a folder of the project that has a package.json and a lock file of its own, unless it is installed already as the lock file says.
// Kept apart from the project's own dependencies so that a user's install stays small.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @param {string} name the folder from the project's root, e.g. `test/peers` */
export function ensure(name) {
  const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', name)
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')
  const mark = join(folder, 'node_modules', '.installed')
  const isInstalled = () => existsSync(mark) && readFileSync(mark, 'utf8') === wanted
  if (isInstalled()) return
  const lock = join(folder, '.installing')
  takeLock(lock)
  try {
    if (!isInstalled()) install(name, folder)
    writeFileSync(mark, wanted)
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/** Waits while another process installs the folder: test files run at the same time. A lock older than any installation is stale. */
function takeLock(lock) {
  for (;;) {
    try {
      return mkdirSync(lock)
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const { mtimeMs = Date.now() } = statSync(lock, { throwIfNoEntry: false }) ?? {}
    if (Date.now() - mtimeMs > 300_000) rmSync(lock, { recursive: true, force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  }
}

function install(name, folder) {
  console.error(`installing ${name} (only when its lock file changes) ...`)
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error(`npm ci in ${name} failed with exit code ${status}`)
}

/** Installs one folder in this process, several at the same time in separate processes. */
async function main(names) {
  if (names.length === 1) return ensure(names[0])
  const codes = await Promise.all(
    names.map(async (name) => (await once(spawn(process.execPath, [script, name], { stdio: 'inherit' }), 'exit'))[0]),
  )
  if (codes.some((code) => code !== 0)) process.exitCode = 1
}

const script = fileURLToPath(import.meta.url)
if (process.argv[1] === script) await main(process.argv.slice(2))
