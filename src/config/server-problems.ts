import { addressOf } from '../game/server-settings.ts'
import type { Given } from '../settings/read.ts'
import type { Setting } from '../settings/setting.ts'
import { formatServerAddress } from '../util/address.ts'
import { givenMain, mainOf, type NamedSetting, type ReadServer, type ReadSource, toServer } from './read-server.ts'

const titles = { java: 'Java', bedrock: 'Bedrock' } as const

/** The name of a setting for messages: its key in the config file, or its name in the environment. */
function nameOf({ env, file = env, secret }: Setting<unknown>, inFile: boolean): string {
  const own = inFile ? file : env
  return secret ? `${own} (or ${own}${inFile ? 'File' : '_FILE'})` : own
}

/** `MC_RCON is set without MC_RCON_PASSWORD`. */
const describeMissing = (given: Given, alternatives: readonly NamedSetting[]): string =>
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

/** Settings that have no effect without another one of their table, or on a server of this edition. */
function findWithoutEffect(server: ReadServer): readonly string[] {
  const { sources, tables } = server
  const unmet = tables.flatMap(({ settings, given }) =>
    settings.flatMap(([key, { needs }]) => {
      const set = given.get(key)
      if (set === undefined || needs === undefined || given.has(needs)) return []
      const needed = settings.filter(([name]) => name === needs)
      return [describeMissing(set, needed)]
    }),
  )
  const address = addressOf(toServer(server) ?? { sources: {} })
  if (address === undefined) return unmet
  const shown = `${titles[address.edition]} server (${formatServerAddress(address)})`
  const others = sources.flatMap(({ settings, given }) =>
    settings.flatMap(([key, { edition = address.edition }]) => {
      const set = given.get(key)
      if (set === undefined || edition === address.edition) return []
      return [`${set.from} is set for a ${shown}; it applies to ${titles[edition]} servers only`]
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
