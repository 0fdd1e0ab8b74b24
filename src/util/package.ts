import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error('package.json not found in any folder above the code of tickwarden')
  return findRoot(parent)
}

/** The folder of the package, both from source (`src/`) and from the build (`dist/src/`). */
export const packageRoot = findRoot(dirname(fileURLToPath(import.meta.url)))

/** How the command is called: an installed package is on the path, a clone is found by npx. */
export const commandName = packageRoot.includes(`${sep}node_modules${sep}`) ? 'tickwarden' : 'npx tickwarden'

/** The version in package.json. */
export const version = String(
  (JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: unknown }).version,
)

/** The checked-out commit, read from `.git`; undefined in an installed package or a worktree. */
function readRevision(): string | undefined {
  const git = join(packageRoot, '.git')
  const read = (path: string) => (existsSync(join(git, path)) ? readFileSync(join(git, path), 'utf8').trim() : '')
  const head = read('HEAD')
  const ref = head.startsWith('ref: ') ? head.slice('ref: '.length) : undefined
  const packed = () =>
    read('packed-refs')
      .split('\n')
      .find((line) => line.endsWith(` ${ref}`))
      ?.split(' ')[0]
  const commit = ref === undefined ? head : read(ref) || packed()
  return commit !== undefined && /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined
}

export const revision = readRevision()
