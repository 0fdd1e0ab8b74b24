import { type Fleet, perServers } from '../../src/game/fleet.ts'
import { addressOf, type ServerSettings } from '../../src/game/server-settings.ts'
import { formatServerAddress, parseHost, parseServerAddress, type ServerAddress } from '../../src/util/address.ts'

export interface Target {
  readonly settings: ServerSettings
  /** True for a watched server, which may be probed at any address. */
  readonly configured: boolean
}

/** In lower case: host names are case-insensitive. */
const keyOf = (address: ServerAddress): string => formatServerAddress(address).toLowerCase()

/** Of several servers with the same key, the first. */
const firstByKey = (entries: readonly (readonly [key: string, server: ServerSettings])[]): ReadonlyMap<string, ServerSettings> =>
  new Map(entries.toReversed())

/** Undefined for a key that several servers share. */
function aloneByKey(
  entries: readonly (readonly [key: string, server: ServerSettings])[],
): ReadonlyMap<string, ServerSettings | undefined> {
  const alone = new Map<string, ServerSettings | undefined>()
  for (const [key, server] of entries) alone.set(key, alone.has(key) ? undefined : server)
  return alone
}

function createIndex(servers: readonly ServerSettings[]) {
  const located = servers.flatMap((server) => {
    const address = addressOf(server)
    return address === undefined ? [] : [{ server, address }]
  })
  return {
    byName: firstByKey(servers.map((server) => [server.name, server])),
    byAddress: firstByKey(located.map(({ server, address }) => [keyOf(address), server])),
    byHost: aloneByKey(located.map(({ server, address }) => [address.host.toLowerCase(), server])),
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
    const watched = byAddress.get(keyOf(address)) ?? byHost.get((parseHost(text) ?? text).toLowerCase())
    return watched
      ? { settings: watched, configured: true }
      : { settings: { name: text, sources: { status: { address } } }, configured: false }
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
