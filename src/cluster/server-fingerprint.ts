import { createHash } from 'node:crypto'
import { addressOf, type ServerSettings } from '../game/server-settings.ts'
import { formatServerAddress } from '../util/address.ts'

const length = 8
const fingerprints = new WeakMap<ServerSettings, string>()

/**
 * Identifies a server among replicas: a fingerprint of the settings that locate it, then its name. Servers with the same name and
 * different addresses, such as those of staging and production, are different servers. Computed once for each settings object.
 */
export function serverKeyOf(server: ServerSettings): string {
  const before = fingerprints.get(server)
  if (before !== undefined) return before
  const address = addressOf(server)
  const place = `${address === undefined ? '' : formatServerAddress(address)}\0${server.sources.directory?.path ?? ''}`
  const key = createHash('sha256').update(place).digest('base64url').slice(0, length) + server.name
  fingerprints.set(server, key)
  return key
}

/** The name of the server with this key. */
export const nameOfKey = (key: string): string => key.slice(length)
