import type { ServerList } from './provider.ts'

export interface ListOfProvider {
  readonly provider: string
  readonly list: ServerList
}

const placeOf = ({ provider, list }: ListOfProvider): string => `${provider} (${list.name})`

/**
 * Merges lists in order. If two servers have the same name, the first one is watched.
 * @returns the lists with the servers that are watched, the others among those that are refused
 */
export function mergeLists(lists: readonly ListOfProvider[]): readonly ListOfProvider[] {
  const owners = new Map<string, ListOfProvider>()
  return lists.map((given) => {
    const refused = [...given.list.refused]
    const servers = given.list.servers.filter(({ name }) => {
      const owner = owners.get(name)
      if (owner === undefined) owners.set(name, given)
      else
        refused.push(
          `${JSON.stringify(name)} of ${placeOf(given)} is ignored: ${placeOf(owner)} has a server with that name; names must be unique`,
        )
      return owner === undefined
    })
    return { provider: given.provider, list: { ...given.list, servers, refused } }
  })
}
