import { createHash } from 'node:crypto'
import { addressOf, type ServerSettings } from '../game/server-settings.ts'
import { formatServerAddress } from '../util/address.ts'

const length = 8

/**
 * Identifies a server among replicas: a fingerprint of the settings that locate it, then its name. Servers with the same name and
 * different addresses, such as those of staging and production, are different servers.
 */
export function serverKeyOf(server: ServerSettings): string {
  const address = addressOf(server)
  const place = `${address === undefined ? '' : formatServerAddress(address)}\0${server.sources.directory?.path ?? ''}`
  return createHash('sha256').update(place).digest('base64url').slice(0, length) + server.name
}

/** The name of the server with this key. */
export const nameOfKey = (key: string): string => key.slice(length)
