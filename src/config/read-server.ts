import { type GivenSources, type ServerSettings, serverSettings } from '../game/server-settings.ts'
import type { SettingNames } from '../game/setting-names.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, type SourceSetting, settingsOf } from '../game/sources/source.ts'
import { type Given, type Places, type ReadSettings, readSettings } from '../settings/read.ts'
import type { GivenValues, Setting, SettingTable } from '../settings/setting.ts'

/** The settings of one source. */
export interface ReadSource extends ReadSettings<SettingTable> {
  readonly descriptor: SourceDescriptor
  /** Its settings, the main one first. */
  readonly settings: readonly NamedSetting[]
}

export type NamedSetting = readonly [key: string, setting: SourceSetting<unknown>]

export type AnySetting = readonly [key: string, setting: Setting<unknown>]

/** The settings of one game server. */
export interface ReadServer {
  /** The settings that do not belong to a source. */
  readonly own: ReadSettings<typeof serverSettings>
  readonly sources: readonly ReadSource[]
}

/** Reads the settings of one server; wrong values are added to `problems`. */
export function readServer(places: Places, problems: string[]): ReadServer {
  return {
    own: readSettings(serverSettings, places, problems),
    sources: sources.map((descriptor: SourceDescriptor): ReadSource => {
      const table = settingsOf(descriptor)
      return { descriptor, settings: Object.entries(table), ...readSettings(table, places, problems) }
    }),
  }
}

/** The main setting of a source; empty for a source without settings. */
export const mainOf = ({ settings }: ReadSource): readonly NamedSetting[] => settings.slice(0, 1)
/** The main setting of a source, if it is set. */
export const givenMain = (source: ReadSource): Given | undefined => mainOf(source).map(([key]) => source.given.get(key))[0]

/** The values without undefined ones. */
const definedIn = <T extends SettingTable>(values: ReadSettings<T>['values']) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as GivenValues<T>

/** The key of each setting in the entry of a server. One object for all servers: there may be thousands. */
const keysInFile: SettingNames = Object.fromEntries(
  [serverSettings, ...sources.map(settingsOf)].flatMap((table: SettingTable) =>
    Object.values(table).flatMap(({ env, file }) => (file === undefined ? [] : [[env, file] as const])),
  ),
)

/** The keys of a server's settings, except those set in the environment or on the command line. */
function namesInFile({ own, sources }: ReadServer): SettingNames {
  const tables: readonly { readonly settings: readonly AnySetting[]; readonly given: ReadonlyMap<string, Given> }[] = [
    { settings: Object.entries(serverSettings), given: own.given },
    ...sources,
  ]
  const elsewhere = new Set(
    tables.flatMap(({ settings, given }) =>
      settings.flatMap(([key, { env }]) => (given.get(key)?.inFile === false ? [env] : [])),
    ),
  )
  if (elsewhere.size === 0) return keysInFile
  return Object.fromEntries(Object.entries(keysInFile).filter(([env]) => !elsewhere.has(env)))
}

/**
 * The server to watch; undefined without an address or folder.
 * @param isInFile whether it has an entry in the config file, or in options with the same keys
 */
export function toServer(server: ReadServer, isInFile = false): ServerSettings | undefined {
  const { own, sources } = server
  if (!sources.some((source) => source.descriptor.locatesServer && givenMain(source))) return undefined
  const given = sources.map(({ descriptor, values }) => [descriptor.name, definedIn(values)] as const)
  const configured = given.filter(([, values]) => Object.keys(values).length > 0)
  return {
    name: serverSettings.name.default,
    ...definedIn(own.values),
    sources: Object.fromEntries(configured) as GivenSources,
    ...(isInFile && { settingNames: namesInFile(server) }),
  }
}
