import { execFileSync } from 'node:child_process'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { allNames, dependencyPath, isOld, type LockFile, readDependencies, readLock } from './dependencies.ts'

// `npm run refresh-dependencies`: looks up the last release of every direct dependency of the service and its development, and fails for one
// that is older than two years, or of unknown date, without a reason. It needs the registry, so that the tests do not run it.

const root = join(import.meta.dirname, '..', '..')

function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    // What is nested is a dependency of its own.
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + bytesBelow(path)
    return sum + statSync(path).size
  }, 0)
}

/** The paths of a package and everything that it depends on, as Node.js finds them. */
function withDependencies(lock: LockFile, path: string, found = new Set<string>()): Set<string> {
  const locked = lock[path]
  if (locked === undefined || found.has(path)) return found
  found.add(path)
  for (const name of Object.keys({ ...locked.dependencies, ...locked.optionalDependencies })) {
    let from = path
    while (from !== '' && lock[`${from}/node_modules/${name}`] === undefined)
      from = from.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')
    withDependencies(lock, `${from === '' ? '' : `${from}/`}node_modules/${name}`, found)
  }
  return found
}

function sizeOf(folder: string, lock: LockFile, name: string): number | undefined {
  const installed = [...withDependencies(lock, `node_modules/${name}`)].flatMap((path) => {
    try {
      return [bytesBelow(join(root, folder, path))]
    } catch {
      // For another platform.
      return []
    }
  })
  return installed.length === 0 ? undefined : Math.round(installed.reduce((sum, bytes) => sum + bytes, 0) / 1_000)
}

/** The date of the newest version that is not a preview. Undefined in a mirror: its dates are those of its copies, which may be years later. */
function lastRelease(name: string): string | undefined {
  const { created, ...times } = JSON.parse(execFileSync('npm', ['view', name, 'time', '--json'], { encoding: 'utf8' }))
  // Only the npm registry itself says when a package was created.
  if (created === undefined) return undefined
  const dates = Object.entries<string>(times).flatMap(([version, time]) =>
    /^\d+\.\d+\.\d+$/.test(version) ? [time.slice(0, 10)] : [],
  )
  return dates.toSorted().at(-1)
}

const isOffline = process.argv.includes('--sizes')
const file = readDependencies()
for (const [folder, dependencies] of Object.entries(file.dependencies)) {
  const lock = readLock(folder)
  for (const name of allNames(folder)) {
    const one = dependencies[name]
    if (one === undefined) throw new RangeError(`docs/src/dependencies.json has no reason for ${name} in ${folder}`)
    const size = sizeOf(folder, lock, name)
    if (size !== undefined) one.size = size
    if (isOffline) continue
    const released = lastRelease(lock[`node_modules/${name}`]?.name ?? name)
    if (released === undefined) {
      console.error(`${name}: the registry has no date of its last release; that in docs/src/dependencies.json stays.`)
      continue
    }
    one.released = released
    delete one.dateFrom
  }
}
if (!isOffline) file.checked = new Date().toISOString().slice(0, 10)
writeFileSync(dependencyPath, `${JSON.stringify(file, null, 2)}\n`)
const unexplained = Object.values(file.dependencies).flatMap((byName) =>
  Object.entries(byName).flatMap(([name, one]) => (isOld(one, file.checked) && one.kept === undefined ? [name] : [])),
)
for (const name of unexplained)
  console.error(`${name} has had no release for two years, or none of known date: replace it, or say in "kept" why it stays.`)
if (unexplained.length > 0) process.exitCode = 1
