import type { ServerSettings } from '../game/server-settings.ts'
import type { MaintenanceWindow } from '../maintenance/window.ts'
import type { NotifySettings } from '../notify/settings.ts'
import { closestName } from '../settings/closest-name.ts'
import { wildcard } from '../util/wildcard.ts'

type Named = Pick<ServerSettings, 'name' | 'group'>

const groupsOf = (servers: readonly Named[]): readonly string[] => servers.flatMap(({ group }) => group ?? [])

/** Reports each name or pattern that matches none of the known names: `no group is called "gmes"; did you mean games?` */
function findUnknown(patterns: readonly string[], known: readonly string[], what: string): readonly string[] {
  const unknown = patterns.filter((pattern) => !known.some(wildcard(pattern)))
  return unknown.map((name) => {
    const closest = closestName(name, new Set(known), 2)
    return `no ${what} is called "${name}"${closest === undefined ? '' : `; did you mean ${closest}?`}`
  })
}

/** Reports each name or pattern that matches neither the name nor the group of a server. */
export const findUnknownServers = (patterns: readonly string[], servers: readonly Named[]): readonly string[] =>
  findUnknown(patterns, [...servers.map(({ name }) => name), ...groupsOf(servers)], 'server or group')

// A pattern may be about servers that are added later.
const withoutPatterns = (names: readonly string[]): readonly string[] => names.filter((name) => !name.includes('*'))

/** Names of servers and groups in `notify` and `maintenance` that match none: nothing would ever be told of them, or muted. */
export function findWithoutServer(
  servers: readonly Named[],
  { notify, maintenance, path }: { notify?: NotifySettings | undefined; maintenance: readonly MaintenanceWindow[]; path: string },
): readonly string[] {
  const channels = notify?.channels.flatMap(({ servers: names, groups }, index) => [
    ...findUnknownServers(withoutPatterns(names), servers).map((problem) => `notify.channels[${index}].servers: ${problem}`),
    ...findUnknown(withoutPatterns(groups), groupsOf(servers), 'group').map(
      (problem) => `notify.channels[${index}].groups: ${problem}`,
    ),
  ])
  const windows = maintenance.flatMap(({ servers: names }, index) =>
    findUnknownServers(withoutPatterns(names), servers).map((problem) => `maintenance[${index}].servers: ${problem}`),
  )
  return [...(channels ?? []), ...windows].map((problem) => `${path}: ${problem}`)
}
