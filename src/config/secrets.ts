import { type ServerSettings, serverSettings } from '../game/server-settings.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, settingsOf } from '../game/sources/source.ts'
import { secretsOfNotify } from '../notify/settings.ts'
import { secretsOfOtlp } from '../otlp/settings.ts'
import { secretsOf } from '../secrets/secrets-of.ts'
import type { Config } from './config.ts'
import { slices } from './settings.ts'

/** Every secret in the settings of a server. */
const secretsOfServer = (server: ServerSettings): readonly string[] => [
  ...secretsOf(serverSettings, server),
  ...sources.flatMap((source: SourceDescriptor) =>
    secretsOf(settingsOf(source), (server.sources as Readonly<Record<string, object | undefined>>)[source.name] ?? {}),
  ),
]

/** Every configured secret. @param servers those of all providers */
export function secretsOfConfig(config: Config, servers: readonly ServerSettings[]): readonly string[] {
  const values = config as unknown as Readonly<Record<string, object | undefined>>
  const own = Object.entries(slices).flatMap(([name, table]) => secretsOf(table, values[name] ?? {}))
  const ofNotify = config.notify === undefined ? [] : secretsOfNotify(config.notify)
  return [...own, ...ofNotify, ...secretsOfOtlp(config.otlp), ...[...config.servers, ...servers].flatMap(secretsOfServer)]
}
