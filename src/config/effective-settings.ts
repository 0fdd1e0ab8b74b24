import { serverSettings } from '../game/server-settings.ts'
import { type Given, quoted, readSettings } from '../settings/read.ts'
import type { Setting } from '../settings/setting.ts'
import { type ConfigInput, environment } from './config.ts'
import { configVariable } from './environment.ts'
import { findConfigFile, readConfigFile } from './file.ts'
import { type ReadServer, readServer } from './read-server.ts'
import { settings } from './settings.ts'

/** The value of one setting, and where it comes from. */
export interface EffectiveSetting {
  /** Its environment name. */
  readonly name: string
  /** As text; secrets, and user names and passwords in URLs, are hidden. */
  readonly value: string
  /** `MC_SERVER`, `tickwarden.yaml: poll.interval`, `default`. */
  readonly from: string
}

function effective(setting: Setting<unknown>, given: Given | undefined): EffectiveSetting {
  const { env: name, secret, default: fallback, otherwise } = setting
  if (given === undefined)
    return { name, value: fallback === undefined ? (otherwise ?? 'not set') : JSON.stringify(fallback), from: 'default' }
  const value = secret ? '[hidden]' : quoted(given.text ?? '')
  return { name, value, from: given.from }
}

/** Only the settings that are set, because most sources of a server are off. */
function ofServer({ own, sources }: ReadServer): readonly EffectiveSetting[] {
  const set = (table: Readonly<Record<string, Setting<unknown>>>, given: ReadonlyMap<string, Given>) =>
    Object.entries(table).flatMap(([key, setting]) => {
      const found = given.get(key)
      return found === undefined ? [] : [effective(setting, found)]
    })
  return [
    ...set(serverSettings, own.given),
    ...sources.flatMap(({ settings, given }) => set(Object.fromEntries(settings), given)),
  ]
}

/** The effective settings of the service, then those of each server. Mistakes are left out: loadConfig() reports them. */
export function effectiveSettings({ flags = {}, env = environment(), file }: ConfigInput): {
  readonly service: readonly EffectiveSetting[]
  readonly servers: readonly (readonly EffectiveSetting[])[]
} {
  const ignored: string[] = []
  const path = file || env[configVariable] || findConfigFile(ignored)
  const contents = path === undefined ? undefined : readConfigFile(path, ignored)
  const { given } = readSettings(settings, { flags, env, file: contents?.settings ?? new Map() }, ignored)
  const [first, ...others] = contents?.servers ?? []
  const servers = [
    readServer({ flags, env, file: first?.settings ?? new Map() }, ignored),
    ...others.flatMap((entry) =>
      entry === undefined ? [] : [readServer({ flags: {}, env: {}, file: entry.settings }, ignored)],
    ),
  ]
  return {
    service: Object.entries(settings).map(([key, setting]) => effective(setting, given.get(key as keyof typeof settings))),
    servers: servers.map(ofServer).filter((server) => server.length > 0),
  }
}
