import type { Fleet } from '../../src/game/fleet.ts'
import { formatServerAddress, parseServerAddress, type ServerAddress } from '../../src/game/protocol/address.ts'
import { addressOf, type ServerSettings } from '../../src/game/server.ts'

export interface Target {
  readonly settings: ServerSettings
  /** True for a watched server, which may be probed at any address. */
  readonly configured: boolean
}

const sameHost = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

function isAt(server: ServerSettings, wanted: ServerAddress): boolean {
  const address = addressOf(server)
  return address?.edition === wanted.edition && address.port === wanted.port && sameHost(address.host, wanted.host)
}

/**
 * Finds the target for the text: a watched server by its name, `host:port` or host, else any server by address; undefined if it
 * is neither. If several watched servers match an address, the first one is used.
 */
export function findTarget(fleet: Fleet, text: string): Target | undefined {
  const named = fleet.servers.find(({ name }) => name === text)
  if (named !== undefined) return { settings: named, configured: true }
  const address = parseServerAddress(text)
  if (address === undefined) return undefined
  const watched =
    fleet.servers.find((server) => isAt(server, address)) ??
    fleet.servers.find((server) => sameHost(addressOf(server)?.host ?? '', text))
  return watched
    ? { settings: watched, configured: true }
    : { settings: { name: text, sources: { status: { address } } }, configured: false }
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
    const key = text.toLowerCase()
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
