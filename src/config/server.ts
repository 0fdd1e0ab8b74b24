import { formatServerAddress } from '../game/protocol/address.ts'
import { addressOf, type GivenSources, type ServerSettings, serverSettings } from '../game/server.ts'
import type { SettingNames } from '../game/setting-names.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, type SourceSetting, settingsOf } from '../game/sources/source.ts'
import type { Given, ServerEntry } from './file.ts'
import { type Places, type ReadSettings, readSettings } from './read.ts'
import type { GivenValues, Setting, SettingTable } from './setting.ts'

/** The settings of one source. */
interface ReadSource extends ReadSettings<SettingTable> {
  readonly descriptor: SourceDescriptor
  /** Its settings, the main one first. */
  readonly settings: readonly NamedSetting[]
}

type NamedSetting = readonly [key: string, setting: SourceSetting<unknown>]

type AnySetting = readonly [key: string, setting: Setting<unknown>]

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

const titles = { java: 'Java', bedrock: 'Bedrock' } as const

const mainOf = ({ settings }: ReadSource): readonly NamedSetting[] => settings.slice(0, 1)
const givenMain = (source: ReadSource): Given | undefined => mainOf(source).map(([key]) => source.given.get(key))[0]

/** The name of a setting for messages: its key in the config file, or its name in the environment. */
function nameOf({ env, file = env, secret }: Setting<unknown>, inFile: boolean): string {
  const own = inFile ? file : env
  return secret ? `${own} (or ${own}${inFile ? 'File' : '_FILE'})` : own
}

/** `MC_RCON is set without MC_RCON_PASSWORD`. */
const describeMissing = (given: Given, alternatives: readonly AnySetting[]): string =>
  `${given.from} is set without ${alternatives.map(([, setting]) => nameOf(setting, given.inFile)).join(' or ')}`

/**
 * Missing settings of one source.
 * @param locating the sources whose main setting is the address or folder of the server
 */
function missingOf(source: ReadSource, locating: readonly ReadSource[]): readonly string[] {
  const { settings, given } = source
  const main = givenMain(source)
  if (main !== undefined) {
    const missing = settings.filter(([key, { required }]) => required && !given.has(key))
    return missing.map((setting) => describeMissing(main, [setting]))
  }
  const [first] = given.values()
  if (first === undefined) return []
  // Without a directory, only an address locates the server.
  const fallbacks = settings[0]?.[1].fallback ? locating.filter(({ descriptor }) => !descriptor.completesOthers) : []
  return fallbacks.some(givenMain) ? [] : [describeMissing(first, [source, ...fallbacks].flatMap(mainOf))]
}

/**
 * Finds settings without another one that they require, and settings that have no effect on this server. Wrong settings are not
 * treated as missing, because they are already reported.
 * @param entry location of the server in the config file; undefined if it is not in the file
 */
export const findConflicts = (server: ReadServer, entry: string | undefined): readonly string[] => [
  ...findMissing(server, entry),
  ...findWithoutEffect(server),
]

function findMissing({ sources }: ReadServer, entry: string | undefined): readonly string[] {
  const locating = sources.filter(({ descriptor }) => descriptor.locatesServer)
  const isLocated = locating.some(givenMain)
  if (entry !== undefined && !isLocated) {
    const keys = locating.flatMap(mainOf).map(([, { file }]) => file)
    return [`${entry} has no ${keys.join(' and no ')}`]
  }
  // The directory may provide the missing settings.
  if (sources.some((source) => source.descriptor.completesOthers && givenMain(source))) return []
  const [unlocated] = isLocated ? [] : sources.flatMap((source) => givenMain(source) ?? [])
  return [
    ...sources.flatMap((source) => missingOf(source, locating)),
    ...(unlocated ? [describeMissing(unlocated, locating.flatMap(mainOf))] : []),
  ]
}

/** Settings that have no effect without another setting of their table. */
function findUnmetNeeds(settings: readonly AnySetting[], given: ReadonlyMap<string, Given>): readonly string[] {
  return settings.flatMap(([key, { needs }]) => {
    const set = given.get(key)
    if (set === undefined || needs === undefined || given.has(needs)) return []
    return [
      describeMissing(
        set,
        settings.filter(([name]) => name === needs),
      ),
    ]
  })
}

/** Settings that have no effect without another one, or on a server of this edition. */
function findWithoutEffect(server: ReadServer): readonly string[] {
  const { own, sources } = server
  const unmet = [
    ...findUnmetNeeds(Object.entries(serverSettings), own.given),
    ...sources.flatMap(({ settings, given }) => findUnmetNeeds(settings, given)),
  ]
  const address = addressOf(toServer(server) ?? { sources: {} })
  if (address === undefined) return unmet
  const others = sources.flatMap(({ settings, given }) =>
    settings.flatMap(([key, { edition = address.edition }]) => {
      const set = given.get(key)
      if (set === undefined || edition === address.edition) return []
      return [
        `${set.from} is set for a ${titles[address.edition]} server (${formatServerAddress(address)}); it applies to ${titles[edition]} servers only`,
      ]
    }),
  )
  return [...unmet, ...others]
}

/** Settings of sources that cannot be reached through the proxy of the server; its other sources can. */
export const findUnproxied = ({ own, sources }: ReadServer): readonly string[] => {
  const via = own.given.get('via')
  if (via === undefined) return []
  return sources
    .filter(({ descriptor }) => descriptor.udpOnly)
    .flatMap((source) => givenMain(source) ?? [])
    .map(({ from }) => `${from} has no effect with ${via.from}: it is read over UDP, which does not go through a proxy`)
}

/**
 * Settings of a server without its address: a mistake, which must not start the demo server.
 * @param emptyFile the path of a config file without servers
 */
export function findServerless({ own, sources }: ReadServer, emptyFile: string | undefined): readonly string[] {
  const locating = sources.filter(({ descriptor }) => descriptor.locatesServer)
  if (locating.some(givenMain)) return []
  const main = locating.flatMap(mainOf)
  const problems = [...own.given.values()].map((given) => describeMissing(given, main))
  // Settings of sources are already reported by findMissing().
  if (emptyFile === undefined || problems.length > 0 || sources.some(({ given }) => given.size > 0)) return problems
  const settings = main.map(([, setting]) => nameOf(setting, false)).join(' or ')
  return [
    `${emptyFile}: lists no servers; add one, such as "servers: [{ name: survival, address: mc.example.org }]", or set ${settings}`,
  ]
}

/**
 * Reads a server from its entry in a file only, without environment and flags; mistakes are added to `problems`.
 * @param warnings receives settings without effect that are not mistakes
 * @returns the server and its name; each undefined if missing or wrong
 */
export function readEntry(
  entry: ServerEntry,
  problems: string[],
  warnings: string[] = [],
): { readonly name?: string; readonly server?: ServerSettings } {
  const read = readServer({ flags: {}, env: {}, file: entry.settings }, problems)
  const name = read.own.given.has('name') ? read.own.values.name : undefined
  if (!read.own.given.has('name')) problems.push(`${entry.place} has no name; every server except the first needs one`)
  problems.push(...findConflicts(read, entry.place))
  warnings.push(...findUnproxied(read))
  const server = toServer(read, true)
  return { ...(name !== undefined && { name }), ...(server && { server }) }
}

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
