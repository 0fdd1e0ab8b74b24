import { defaultPorts, formatHostPort } from '../../protocol/address.ts'
import { decodeProperties, parseProperties } from '../../protocol/server-properties.ts'
import type { PartialSettings, ServerSettings } from '../../server.ts'
import { readInside } from './folder.ts'
import { keystoreFingerprint } from './keystore.ts'

const mostBytes = 1024 * 1024

export type Properties = ReadonlyMap<string, string>

/** `server.properties`; undefined where there is none, or where it is empty: the server may be writing it. */
export async function readProperties(folder: string): Promise<Properties | undefined> {
  const bytes = await readInside(folder, 'server.properties', mostBytes)
  const properties = bytes && parseProperties(decodeProperties(bytes))
  return properties?.size ? properties : undefined
}

/** A whole number of the properties within bounds. */
export function integerIn(properties: Properties, key: string, least: number, most: number): number | undefined {
  const text = properties.get(key)?.trim() ?? ''
  const value = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? value : undefined
}

/** A server that listens on every address is asked on this machine. */
const reachable = (ip: string | undefined): string | undefined =>
  ip === '0.0.0.0' ? '127.0.0.1' : ip === '::' ? '::1' : ip?.trim() || undefined

/** What the settings leave open, from the properties: an explicit setting always wins. */
export async function completeSettings(server: ServerSettings, properties: Properties): Promise<ServerSettings> {
  const isOn = (key: string) => properties.get(key)?.trim() === 'true'
  const port = integerIn(properties, 'server-port', 1, 65_535) ?? defaultPorts.java
  const address = server.address ?? { edition: 'java', host: reachable(properties.get('server-ip')) ?? '127.0.0.1', port }
  const { host } = address
  const given = server.partial ?? {}
  const password = given.rconPassword ?? (properties.get('rcon.password') || undefined)
  const rconAddress =
    given.rcon ??
    (isOn('enable-rcon') ? { host, port: integerIn(properties, 'rcon.port', 1, 65_535) ?? defaultPorts.rcon } : undefined)
  const rcon = server.rcon ?? (rconAddress && password !== undefined ? { address: rconAddress, password } : undefined)
  const query =
    server.query ?? (isOn('enable-query') ? { host, port: integerIn(properties, 'query.port', 1, 65_535) ?? port } : undefined)
  const management = server.management ?? (await findManagement(server, given, properties, host))
  return {
    name: server.name,
    address,
    ...(rcon && { rcon }),
    ...(management && { management }),
    ...(query && { query }),
  }
}

async function findManagement(
  { directory }: ServerSettings,
  given: PartialSettings,
  properties: Properties,
  host: string,
): Promise<ServerSettings['management']> {
  const secret = given.management?.secret ?? (properties.get('management-server-secret') || undefined)
  if (secret === undefined) return undefined
  const on = properties.get('management-server-enabled')?.trim() === 'true'
  // Port 0 is a random one, which the server tells nobody but its log.
  const port = on ? integerIn(properties, 'management-server-port', 1, 65_535) : undefined
  const secure = properties.get('management-server-tls-enabled')?.trim() !== 'false'
  // It listens on localhost unless it is told otherwise.
  const own = properties.get('management-server-host')?.trim() || 'localhost'
  const at = own === '0.0.0.0' || own === '::' ? host : own === 'localhost' ? '127.0.0.1' : own
  const url = given.management?.url ?? (port && `${secure ? 'wss' : 'ws'}://${formatHostPort({ host: at, port })}/`)
  if (!url) return undefined
  const { caFile, fingerprint } = given.management ?? {}
  const pinned =
    fingerprint ??
    (caFile === undefined && url.startsWith('wss:') && directory !== undefined
      ? await ownFingerprint(directory, properties)
      : undefined)
  return { url, secret, ...(caFile !== undefined && { caFile }), ...(pinned !== undefined && { fingerprint: pinned }) }
}

/** Of the server's own keystore, so that its self-signed certificate need not be configured. */
async function ownFingerprint(folder: string, properties: Properties): Promise<string | undefined> {
  const path = properties.get('management-server-tls-keystore')
  if (!path) return undefined
  const inside = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
  if (inside.startsWith('/')) return undefined
  const bytes = await readInside(folder, inside, mostBytes).catch(() => undefined)
  return bytes && keystoreFingerprint(bytes, properties.get('management-server-tls-keystore-password'))
}
