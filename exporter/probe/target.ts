import { type Fleet, perServers } from '../../src/game/fleet.ts'
import { addressOf, type ServerSettings } from '../../src/game/server-settings.ts'
import { formatServerAddress, parseHost, parseServerAddress, type ServerAddress } from '../../src/util/address.ts'

export interface Target {
  readonly settings: ServerSettings
  /** True for a watched server, which may be probed at any address. */
  readonly configured: boolean
}

const keyOf = (address: ServerAddress): string => formatServerAddress(address).toLowerCase()

interface Index {
  readonly byName: ReadonlyMap<string, ServerSettings>
  /** Keys are in lower case: host names are case-insensitive. */
  readonly byAddress: ReadonlyMap<string, ServerSettings>
  readonly byHost: ReadonlyMap<string, ServerSettings>
}

function createIndex(servers: readonly ServerSettings[]): Index {
  const byName = new Map<string, ServerSettings>()
  const byAddress = new Map<string, ServerSettings>()
  const byHost = new Map<string, ServerSettings>()
  const add = (map: Map<string, ServerSettings>, key: string, server: ServerSettings) => {
    if (!map.has(key)) map.set(key, server)
  }
  for (const server of servers) {
    add(byName, server.name, server)
    const address = addressOf(server)
    if (address === undefined) continue
    add(byAddress, keyOf(address), server)
    add(byHost, address.host.toLowerCase(), server)
  }
  return { byName, byAddress, byHost }
}

/**
 * Returns a function that finds the target for a text: a watched server by its name, `host:port` or host, else any server by
 * address; undefined if it is neither. If several watched servers match an address, the first one is used.
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
  /** Keys are in lower case: host names are case-insensitive. */
  const counts = new Map<string, number>()
  const addresses = servers.map((server) => {
    const address = addressOf(server)
    if (address === undefined) return undefined
    const text = formatServerAddress(address)
    const key = keyOf(address)
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return { text, key }
  })
  return servers.map(({ name }, index) => {
    const address = addresses[index]
    if (address === undefined) return name
    const isAlone = counts.get(address.key) === 1 && (address.text === name || !names.has(address.text))
    return isAlone ? address.text : name
  })
}
