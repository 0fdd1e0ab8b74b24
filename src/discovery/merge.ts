import type { ServerSettings } from '../game/server-settings.ts'
import type { ServerList } from './provider.ts'

export interface ListOfProvider {
  readonly provider: string
  readonly list: ServerList
}

export type MergedServers = ReturnType<typeof mergeServers>

const placeOf = ({ provider, list }: ListOfProvider): string => `${provider} (${list.name})`

/** Merges lists in order. If two servers have the same name, the first one is watched. */
export function mergeServers(lists: readonly ListOfProvider[]) {
  const owners = new Map<string, ListOfProvider>()
  const servers: ServerSettings[] = []
  /** Reasons why valid servers of a list are not watched. */
  const refused = new Map<ServerList, string[]>()
  for (const given of lists) {
    for (const server of given.list.servers) {
      const owner = owners.get(server.name)
      if (owner === undefined) {
        owners.set(server.name, given)
        servers.push(server)
        continue
      }
      const messages = refused.get(given.list) ?? []
      refused.set(given.list, messages)
      messages.push(
        `${JSON.stringify(server.name)} of ${placeOf(given)} is ignored: ${placeOf(owner)} has a server with that name; names must be unique`,
      )
    }
  }
  return { servers, refused }
}
