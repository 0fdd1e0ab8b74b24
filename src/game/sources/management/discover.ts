import { formatHostPort, type ServerAddress } from '../../../util/address.ts'
import { parseUrl } from '../../../util/parse-url.ts'
import { isOn, type Properties, portIn } from '../directory/server-properties.ts'
import type { ServerFiles } from '../source.ts'
import { keystoreFingerprint } from './keystore.ts'
import type { ManagementSettings } from './settings.ts'

const hostIn = (properties: Properties): string => properties.get('management-server-host')?.trim() || 'localhost'
const isPortChosen = (properties: Properties): boolean => (properties.get('management-server-port')?.trim() || '0') === '0'

/** Port 0, the default, lets the system choose a port, which is found only in the server's log. */
async function findPort({ properties, managementPort }: ServerFiles): Promise<number | undefined> {
  return isPortChosen(properties) ? await managementPort() : portIn(properties, 'management-server-port')
}

/** Returns the URL of the management protocol according to server.properties. */
async function findUrl(files: ServerFiles, server: ServerAddress | undefined): Promise<string | undefined> {
  const { properties } = files
  const port = isOn(properties, 'management-server-enabled') ? await findPort(files) : undefined
  if (port === undefined) return undefined
  const scheme = properties.get('management-server-tls-enabled')?.trim() === 'false' ? 'ws' : 'wss'
  const configured = hostIn(properties)
  const isAny = configured === '0.0.0.0' || configured === '::'
  const host = configured === 'localhost' ? '127.0.0.1' : isAny ? (server?.host ?? '127.0.0.1') : configured
  return `${scheme}://${formatHostPort({ host, port })}/`
}

/** Returns the fingerprint of the certificate in the server's keystore, so that a self-signed one need not be configured. */
async function findFingerprint({ properties, read }: ServerFiles): Promise<string | undefined> {
  const path = properties.get('management-server-tls-keystore')
  const keystore = path ? await read(path) : undefined
  return keystore && (await keystoreFingerprint(keystore, properties.get('management-server-tls-keystore-password')))
}

export function whyUndiscovered(properties: Properties): string {
  if (!isOn(properties, 'management-server-enabled')) return 'management-server-enabled is not true'
  const isValidHost = parseUrl(`ws://${formatHostPort({ host: hostIn(properties), port: 1 })}/`) !== undefined
  const notFound = isPortChosen(properties) ? 'its port is not in logs/latest.log' : 'management-server-port is not valid'
  const missing = !properties.get('management-server-secret')
    ? 'management-server-secret is empty'
    : isValidHost
      ? notFound
      : 'a URL cannot contain its management-server-host'
  return `management-server-enabled=true but ${missing}`
}

/** Discovers the settings of the management protocol in the server's own files. */
export async function discoverManagement(
  files: ServerFiles,
  given: Partial<ManagementSettings>,
  server: ServerAddress | undefined,
): Promise<Partial<ManagementSettings>> {
  const secret = files.properties.get('management-server-secret')
  const found = await findUrl(files, server)
  const isTrusted = given.fingerprint !== undefined || given.caFile !== undefined
  const url = given.url ?? found
  const fingerprint = !isTrusted && url?.startsWith('wss:') ? await findFingerprint(files) : undefined
  return {
    ...(found !== undefined && { url: found }),
    ...(secret && { secret }),
    ...(fingerprint !== undefined && { fingerprint }),
  }
}
