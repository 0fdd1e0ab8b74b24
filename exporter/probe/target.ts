import { type Fleet, perServers } from '../../src/game/fleet.ts'
import { addressOf, type ServerSettings } from '../../src/game/server-settings.ts'
import { formatServerAddress, parseHost, parseServerAddress, type ServerAddress } from '../../src/util/address.ts'
import { groupBy } from '../../src/util/group-by.ts'

export interface Target {
  readonly settings: ServerSettings
  /** True for a watched server, which may be probed at any address. */
  readonly configured: boolean
  /** The watched servers on the host of a target that is none of them. */
  readonly onHost?: readonly ServerSettings[]
}

/** In lower case: host names are case-insensitive. */
const keyOf = (address: ServerAddress): string => formatServerAddress(address).toLowerCase()

/** Of several servers with the same key, the first. */
const firstByKey = (entries: readonly (readonly [key: string, server: ServerSettings])[]): ReadonlyMap<string, ServerSettings> =>
  new Map(entries.toReversed())

function createIndex(servers: readonly ServerSettings[]) {
  const located = servers.flatMap((server) => {
    const address = addressOf(server)
    return address === undefined ? [] : [{ server, address }]
  })
  return {
    byName: firstByKey(servers.map((server) => [server.name, server])),
    byAddress: firstByKey(located.map(({ server, address }) => [keyOf(address), server])),
    byHost: groupBy(located, ({ address }) => address.host.toLowerCase()),
  }
}

/**
 * Returns a function that finds the target for a text: a watched server by its name, by `host:port`, or by its host if no other watched
 * server has it; else any server by address; undefined if it is neither. If several watched servers match an address, the first one is used.
 */
export function createTargetFinder(fleet: Pick<Fleet, 'servers'>): (text: string) => Target | undefined {
  const index = perServers(fleet, createIndex)
  return (given) => {
    const text = given.trim()
    const { byName, byAddress, byHost } = index()
    const named = byName.get(text)
    if (named !== undefined) return { settings: named, configured: true }
    const address = parseServerAddress(text)
    if (address === undefined) return undefined
    const [alone, ...others] = byHost.get((parseHost(text) ?? text).toLowerCase()) ?? []
    const watched = byAddress.get(keyOf(address)) ?? (others.length === 0 ? alone?.server : undefined)
    if (watched !== undefined) return { settings: watched, configured: true }
    const onHost = (byHost.get(address.host.toLowerCase()) ?? []).map(({ server }) => server)
    return { settings: { name: text, sources: { status: { address } } }, configured: false, onHost }
  }
}

/**
 * For each server, in order, a text by which findTarget() finds it: its address, or its name if several servers share the
 * address.
 */
export function targetsOf(servers: readonly ServerSettings[]): readonly string[] {
  const names = new Set(servers.map(({ name }) => name))
  const counts = new Map<string, number>()
  for (const address of servers.map(addressOf)) {
    if (address !== undefined) counts.set(keyOf(address), (counts.get(keyOf(address)) ?? 0) + 1)
  }
  return servers.map((server) => {
    const { name } = server
    const address = addressOf(server)
    if (address === undefined) return name
    const text = formatServerAddress(address)
    const isAlone = counts.get(keyOf(address)) === 1 && (text === name || !names.has(text))
    return isAlone ? text : name
  })
}
