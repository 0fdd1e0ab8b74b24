import { DiscoveryError } from '../discovery/provider.ts'
import type { ServerSettings } from '../game/server-settings.ts'
import type { Given } from '../settings/read.ts'
import { readServer, toServer } from './read-server.ts'
import { readServerFile, type ServerEntry } from './server-file.ts'
import { findConflicts, findUnproxied } from './server-problems.ts'
import { settingsOfServer } from './settings.ts'

/**
 * Reads a server from its entry in a file only, without environment and flags; mistakes are added to `problems`.
 * @param warnings receives settings without effect that are not mistakes
 * @returns the server and its name; each undefined if missing or wrong
 */
export function readEntry(
  entry: ServerEntry,
  problems: string[],
  warnings: string[] = [],
): { readonly name?: string; readonly server?: ServerSettings } {
  const read = readServer({ flags: {}, env: {}, file: entry.settings }, problems)
  const name = read.own.given.has('name') ? read.own.values.name : undefined
  if (!read.own.given.has('name')) problems.push(`${entry.place} has no name; every server except the first needs one`)
  problems.push(...findConflicts(read, entry.place))
  warnings.push(...findUnproxied(read))
  const server = toServer(read, true)
  return { ...(name !== undefined && { name }), ...(server && { server }) }
}

const keys = new Map(settingsOfServer.flatMap(({ file, kind }) => (file === undefined ? [] : [[file, kind] as const])))

const throwProblems = (problems: readonly string[]): void => {
  if (problems.length > 0) throw new DiscoveryError(problems.join('; '))
}

/**
 * Parses the settings of one server from strings by key. Their origin is not trusted to name files of this machine: settings
 * that name a file, and secrets read from a file, are refused.
 * @throws DiscoveryError
 */
export function readServerValues(values: ReadonlyMap<string, string>, place: string): ServerSettings {
  const problems: string[] = []
  const given = new Map<string, Given>()
  for (const [key, text] of values) {
    const kind = keys.get(key)
    if (kind === undefined || kind.isLocal) problems.push(`${place}: ${key} cannot be set here`)
    else given.set(key, { from: `${place}: ${key}`, inFile: true, text })
  }
  const { server } = readEntry({ place, settings: given }, problems)
  throwProblems(problems)
  if (server === undefined) throw new DiscoveryError(`${place} has no address`)
  return server
}

/**
 * The servers of a separate file.
 * @param name of the file; a single server without a name is named after it, without the extension
 * @throws DiscoveryError
 */
export function parseServerFile(text: string, name: string): readonly ServerSettings[] {
  const problems: string[] = []
  const entries = readServerFile(text, name, problems)
  const servers = entries.map((entry) => {
    if (entry === undefined) return undefined
    const isNamed = entries.length > 1 || entry.settings.has('name')
    const own: Given = { from: name, inFile: true, text: name.replace(/\.ya?ml$/, '') }
    const settings = isNamed ? entry.settings : new Map([...entry.settings, ['name', own] as const])
    return readEntry({ ...entry, settings }, problems).server
  })
  throwProblems(problems)
  return servers.filter((server) => server !== undefined)
}
