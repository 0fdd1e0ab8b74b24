import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { code, table } from './table.ts'

const root = join(import.meta.dirname, '..', '..')

/** What package.json cannot say about a dependency. */
export interface Dependency {
  readonly reason: string
  /** Date of the last release by its maintainers; absent if unknown. */
  released?: string
  /** Where the date was read, if not in the npm registry. */
  dateFrom?: string
  /** Why it stays although its last release is older than two years, or its date is unknown. */
  readonly kept?: string
  /** Kilobytes on disk with everything that it depends on, on 64-bit Linux. */
  size?: number
}

/** By folder with a package.json, and by name. `npm run refresh-dependencies` writes dates and sizes. */
export interface DependencyFile {
  /** When the dates were looked up; the two years are counted from it. */
  checked: string
  readonly dependencies: Readonly<Record<string, Readonly<Record<string, Dependency>>>>
}

interface Locked {
  /** That in the registry, if it is another one than that of the folder. */
  readonly name?: string
  readonly version: string
  readonly license?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export type LockFile = Readonly<Record<string, Locked>>

export const dependencyPath = join(import.meta.dirname, 'dependencies.json')
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
export const readDependencies = (): DependencyFile => read(dependencyPath)
export const readLock = (folder: string): LockFile => read(join(root, folder, 'package-lock.json')).packages

type Kind = 'dependencies' | 'devDependencies' | 'optionalDependencies'
export const namesIn = (folder: string, kind: Kind): readonly string[] =>
  Object.keys(read(join(root, folder, 'package.json'))[kind] ?? {})

/** The names of every direct dependency of a folder. */
export const allNames = (folder: string): readonly string[] =>
  (['dependencies', 'devDependencies', 'optionalDependencies'] as const).flatMap((kind) => namesIn(folder, kind))

const twoYears = (date: string): string => `${Number(date.slice(0, 4)) - 2}${date.slice(4)}`
/** Whether it needs a reason to stay: a release of unknown date may be as old. */
export const isOld = ({ released }: Dependency, checked: string): boolean =>
  released === undefined || released < twoYears(checked)

const lastRelease = ({ released = 'unknown', dateFrom }: Dependency): string =>
  dateFrom === undefined ? released : `${released}, ${dateFrom}`

/** @throws RangeError for a dependency without a reason */
function tableOf(folder: string, names: readonly string[]): string {
  const { dependencies } = readDependencies()
  const lock = readLock(folder)
  const rows = names.map((name) => {
    const known = dependencies[folder]?.[name]
    if (known === undefined) throw new RangeError(`docs/src/dependencies.json has no reason for ${name} in ${folder}`)
    const { version, license } = lock[`node_modules/${name}`] ?? { version: '' }
    const size = known.size === undefined ? '' : known.size < 100 ? `${known.size} kB` : `${(known.size / 1_000).toFixed(1)} MB`
    return [code(name), known.reason, version, license ?? 'not stated', size, lastRelease(known)]
  })
  return table(['dependency', 'what for', 'version', 'licence', 'size', 'last release'], ...rows)
}

export const serviceDependencies = (): string => tableOf('.', namesIn('.', 'dependencies'))
export const developmentDependencies = (): string => tableOf('.', namesIn('.', 'devDependencies'))
export const toolDependencies = (): string =>
  ['test/tools', 'grafana', 'test/peers', 'test/nodes', 'test/mutation']
    .map((folder) => `### \`${folder}\`\n\n${tableOf(folder, allNames(folder))}`)
    .join('\n\n')

/** The licences of everything that the service installs, direct or not. */
export function licenceTable(): string {
  const byLicence = new Map<string, string[]>()
  for (const [path, { license = 'not stated', dev, devOptional }] of Object.entries(readLock('.'))) {
    if (path === '' || dev === true || devOptional === true) continue
    byLicence.set(license, [...(byLicence.get(license) ?? []), path.replace(/^.*node_modules\//, '')])
  }
  const rows = [...byLicence]
    .toSorted(([a, as], [b, bs]) => bs.length - as.length || a.localeCompare(b))
    .map(([license, names]) => {
      const isNamed = license.includes('GPL')
      return [license, String(names.length), isNamed ? [...new Set(names)].map(code).join(', ') : '']
    })
  return table(['licence', 'packages', 'names of those under the LGPL'], ...rows)
}

/** The direct dependencies whose last release is older than two years, or of unknown date. */
export function oldDependencies(): string {
  const { checked, dependencies } = readDependencies()
  const rows = Object.values(dependencies).flatMap((byName) =>
    Object.entries(byName).flatMap(([name, one]) =>
      isOld(one, checked) ? [[code(name), lastRelease(one), one.kept ?? '']] : [],
    ),
  )
  return `On ${checked}:\n\n${table(['dependency', 'last release', 'why it stays'], ...rows)}`
}
