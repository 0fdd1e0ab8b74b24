import { type Given, quoted } from '../settings/read.ts'
import type { Setting } from '../settings/setting.ts'
import { type ConfigInput, readConfig } from './config.ts'
import { type ReadTable, readServer } from './read-server.ts'
import { slices } from './settings.ts'

export type EffectiveSetting = ReturnType<typeof effective>

/**
 * The value of one setting as text, and where it comes from: `MC_SERVER`, `tickwarden.yaml: poll.interval`, `default`. Secrets, and user
 * names and passwords in URLs, are hidden.
 */
function effective(setting: Setting<unknown>, given: Given | undefined) {
  const { env: name, secret, default: fallback, otherwise } = setting
  if (given === undefined)
    return { name, value: fallback === undefined ? (otherwise ?? 'not set') : JSON.stringify(fallback), from: 'default' }
  return { name, value: secret ? '[hidden]' : quoted(given.text ?? ''), from: given.from }
}

/** Only the settings that are set, because most sources of a server are off. */
const given = ({ settings, given }: Pick<ReadTable, 'settings' | 'given'>): readonly EffectiveSetting[] =>
  settings.flatMap(([key, setting]) => (given.has(key) ? [effective(setting, given.get(key))] : []))

/** The effective settings of the service, then those of each server. Mistakes are left out: loadConfig() reports them. */
export function effectiveSettings(input: ConfigInput) {
  const { contents, slices: read, primary } = readConfig(input)
  const others = contents?.servers.slice(1).flatMap((entry) => entry ?? []) ?? []
  const servers = [primary, ...others.map(({ settings: file }) => readServer({ flags: {}, env: {}, file }, []))]
  return {
    service: Object.entries(slices).flatMap(([name, table]) => {
      const { given } = read[name as keyof typeof slices] as { readonly given: ReadonlyMap<string, Given> }
      return Object.entries(table).map(([key, setting]) => effective(setting, given.get(key)))
    }),
    servers: servers.map(({ tables }) => tables.flatMap(given)).filter((server) => server.length > 0),
  }
}
