import type { ServerSettings } from '../game/server-settings.ts'
import { readServer, toServer } from './read-server.ts'
import type { ServerEntry } from './server-file.ts'
import { findConflicts, findUnproxied } from './server-problems.ts'

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
