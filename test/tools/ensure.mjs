// Installs a folder of the project that has a package.json and a lock file of its own, unless it is installed already as the lock file says.
// Kept apart from the project's own dependencies so that a user's install stays small.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, lstatSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { threadId } from 'node:worker_threads'
import { cachedFolder } from './user-cache.mjs'

/** @param {string} name the folder from the project's root, e.g. `test/peers` */
export async function ensure(name) {
  const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', name)
  const key = readFileSync(join(folder, 'package-lock.json'), 'utf8') + process.platform + process.arch
  // All clones use the same packages, through a link, which `npm install` replaces by a folder.
  const installed = await cachedFolder(name.replace('/', '-'), key, (into) => install(name, folder, into))
  link(join(folder, 'node_modules'), join(installed, 'node_modules'))
}

function link(from, to) {
  const found = lstatSync(from, { throwIfNoEntry: false })
  if (found?.isSymbolicLink() && readlinkSync(from) === to) return
  if (found?.isDirectory()) rmSync(from, { recursive: true, force: true })
  // Replaced at once, because other test files may have made the same link, and use it.
  const temporary = `${from}.${process.pid}.${threadId}`
  symlinkSync(to, temporary, 'junction')
  renameSync(temporary, from)
}

async function install(name, folder, into) {
  console.error(`installing ${name} (only when its lock file changes) ...`)
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(folder, file), join(into, file))
  const npm = spawn('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: into,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(npm, 'exit')
  if (code !== 0) throw new Error(`npm ci in ${name} failed with exit code ${code}`)
}

const script = fileURLToPath(import.meta.url)
if (process.argv[1] === script) await Promise.all(process.argv.slice(2).map(ensure))
