import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error('package.json of tickwarden not found above its own code')
  return findRoot(parent)
}

/** The folder of the installed package: the same from source (`src/`) and from the build (`dist/src/`). */
export const packageRoot = findRoot(dirname(fileURLToPath(import.meta.url)))

/** The version in package.json. */
export const version = String(
  (JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: unknown }).version,
)
