import { createHash } from 'node:crypto'
import { type ServerSettings, serverSettings } from '../game/server-settings.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, settingsOf } from '../game/sources/source.ts'
import type { SettingTable } from '../settings/setting.ts'

/** Identifies a server and its settings in the list that a replica publishes. */
export interface ServerFingerprint {
  /** Hash of the name: {@link nameLength} characters. */
  readonly name: string
  /** Hash of the settings without secrets: {@link settingsLength} characters. */
  readonly settings: string
}

/** 72 bits: two of a million names have the same hash with a probability of one in ten billion. */
export const nameLength = 12
/** 48 bits: two settings of one server are compared. */
export const settingsLength = 8

const descriptors: readonly SourceDescriptor[] = sources

const hash = (text: string, length: number): string => createHash('sha256').update(text).digest('base64url').slice(0, length)

/** JSON with sorted keys: equal values have equal texts, however their objects were created. */
const toCanonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )

/**
 * The set values of a table without its secrets: passwords are often short enough to be found by trying, even if they are hashed. Only
 * whether a secret is set is compared.
 */
const withoutSecrets = (table: SettingTable, values: Readonly<Record<string, unknown>> = {}) =>
  Object.entries(table).flatMap(([key, { secret }]) => (values[key] === undefined ? [] : [[key, secret ? true : values[key]]]))

const fingerprints = new WeakMap<ServerSettings, ServerFingerprint>()

/** The same on every replica with the same settings of the server. Computed once for each settings object. */
export function fingerprintOf(server: ServerSettings): ServerFingerprint {
  const before = fingerprints.get(server)
  if (before !== undefined) return before
  const given = server.sources as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>
  const settings = [
    withoutSecrets(serverSettings, server as unknown as Readonly<Record<string, unknown>>),
    descriptors.flatMap((source) => {
      const values = withoutSecrets(settingsOf(source), given[source.name])
      return values.length === 0 ? [] : [[source.name, values]]
    }),
  ]
  const fingerprint = { name: hash(server.name, nameLength), settings: hash(toCanonicalJson(settings), settingsLength) }
  fingerprints.set(server, fingerprint)
  return fingerprint
}
