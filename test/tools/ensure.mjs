// Installs folders of the project that have a package.json and a lock file of their own, as the lock files say: once for all checkouts on the
// machine, because unpacking them all takes a minute of CPU time. Kept apart from the project's own dependencies so that a user's install
// stays small.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lock } from 'proper-lockfile'
import { cachedFolder } from './user-cache.mjs'

/** @param {string} name the folder from the project's root, e.g. `test/peers` */
export async function ensure(name) {
  const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', name)
  const key = process.platform + process.arch + readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const installation = await cachedFolder(basename(name), key, async (cached) => {
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(folder, file), join(cached, file))
    await install(name, cached)
  })
  const [target, link] = [join(installation, 'node_modules'), join(folder, 'node_modules')]
  const isLinked = () => existsSync(link) && realpathSync(link) === realpathSync(target)
  if (isLinked()) return
  // Test files run at the same time.
  const retries = { forever: true, factor: 1, minTimeout: 200 }
  const release = await lock(folder, { lockfilePath: join(folder, '.installing'), retries })
  try {
    if (isLinked()) return
    rmSync(link, { recursive: true, force: true })
    symlinkSync(target, link, 'junction')
  } finally {
    await release()
  }
}

/** Installs what the lock file in a folder says. @param {string} name for the message */
export async function install(name, folder) {
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
