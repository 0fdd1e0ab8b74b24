import { formatHostPort, type ServerAddress } from '../../protocol/address.ts'
import { isOn, portIn } from '../../protocol/server-properties.ts'
import type { ServerFiles } from '../source.ts'
import { keystoreFingerprint } from './keystore.ts'
import type { ManagementSettings } from './settings.ts'

/** Port 0, which is the default, lets the system choose one, which the server writes to its log only. */
async function findPort({ properties, managementPort }: ServerFiles): Promise<number | undefined> {
  const isChosen = (properties.get('management-server-port')?.trim() || '0') === '0'
  return isChosen ? await managementPort() : portIn(properties, 'management-server-port')
}

/** The URL of the management protocol according to the server's properties. */
async function findUrl(files: ServerFiles, server: ServerAddress | undefined): Promise<string | undefined> {
  const { properties } = files
  const port = isOn(properties, 'management-server-enabled') ? await findPort(files) : undefined
  if (port === undefined) return undefined
  const scheme = properties.get('management-server-tls-enabled')?.trim() === 'false' ? 'ws' : 'wss'
  const configured = properties.get('management-server-host')?.trim() || 'localhost'
  const isAny = configured === '0.0.0.0' || configured === '::'
  const host = configured === 'localhost' ? '127.0.0.1' : isAny ? (server?.host ?? '127.0.0.1') : configured
  return `${scheme}://${formatHostPort({ host, port })}/`
}

/** The fingerprint of the certificate in the server's own keystore: it is self-signed, and need not be configured this way. */
async function findFingerprint({ properties, read }: ServerFiles): Promise<string | undefined> {
  const path = properties.get('management-server-tls-keystore')
  const keystore = path ? await read(path) : undefined
  return keystore && keystoreFingerprint(keystore, properties.get('management-server-tls-keystore-password'))
}

/** The management protocol as the server's own files configure it. */
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
