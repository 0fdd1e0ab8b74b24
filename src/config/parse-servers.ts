import { DiscoveryError } from '../discovery/provider.ts'
import type { ServerSettings } from '../game/server-settings.ts'
import type { Given } from '../settings/read.ts'
import { readEntry } from './server-entry.ts'
import { readServerFile } from './server-file.ts'
import { settingsOfServer } from './settings.ts'

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
