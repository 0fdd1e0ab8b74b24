import { type GivenSources, type ServerSettings, serverSettings } from '../game/server-settings.ts'
import type { SettingNames } from '../game/setting-names.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, type SourceSetting, settingsOf } from '../game/sources/source.ts'
import { type Given, type Places, type ReadSettings, readSettings } from '../settings/read.ts'
import type { GivenValues, Setting, SettingTable } from '../settings/setting.ts'

/** The settings of a table in their order, and what was read of them. */
export interface ReadTable<T extends SettingTable = SettingTable> extends ReadSettings<T> {
  readonly settings: readonly NamedSetting[]
}

/** Only a setting of a source has more than every setting. */
type AnySetting = Setting<unknown> & Partial<Omit<SourceSetting<unknown>, keyof Setting<unknown>>>
export type NamedSetting = readonly [key: string, setting: AnySetting]

/** The settings of one source, the main one first. */
export interface ReadSource extends ReadTable {
  readonly descriptor: SourceDescriptor
}

/** The settings of one game server. */
export type ReadServer = ReturnType<typeof readServer>

/** Reads the settings of one server; wrong values are added to `problems`. */
export function readServer(places: Places, problems: string[]) {
  const read = <T extends SettingTable>(table: T): ReadTable<T> => ({
    settings: Object.entries(table),
    ...readSettings(table, places, problems),
  })
  /** The settings that do not belong to a source. */
  const own = read(serverSettings)
  const ofSources: readonly ReadSource[] = sources.map((descriptor: SourceDescriptor) => ({
    descriptor,
    ...read(settingsOf(descriptor)),
  }))
  /** All of them. */
  const tables: readonly Pick<ReadTable, 'settings' | 'given'>[] = [own, ...ofSources]
  return { own, sources: ofSources, tables }
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
function namesInFile({ tables }: ReadServer): SettingNames {
  const elsewhere = tables.flatMap(({ settings, given }) =>
    settings.flatMap(([key, { env }]) => (given.get(key)?.inFile === false ? [env] : [])),
  )
  if (elsewhere.length === 0) return keysInFile
  return Object.fromEntries(Object.entries(keysInFile).filter(([env]) => !elsewhere.includes(env)))
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
