import type { GivenSources, ServerSettings } from '../game/server.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, type SourceSetting, settingsOf } from '../game/sources/source.ts'
import type { Given } from './file.ts'
import { type Places, type ReadSettings, readSettings } from './read.ts'
import { checked, type SettingTable } from './setting.ts'
import { serverSettings } from './settings.ts'

/** One source as it was configured. */
interface GivenSource extends ReadSettings<SettingTable> {
  readonly descriptor: SourceDescriptor
  /** Its settings, the main one first. */
  readonly settings: readonly (readonly [key: string, setting: SourceSetting<unknown>])[]
}

/** What the user would have to set: by its key in the config file, or by its name in the environment. */
function nameOf({ env, file, secret }: SourceSetting<unknown>, inFile: boolean): string {
  const own = inFile ? file : env
  return secret ? `${own} (or ${own}${inFile ? 'File' : '_FILE'})` : own
}

const mainOf = ({ settings }: GivenSource) => settings.slice(0, 1)
const namesOf = (settings: GivenSource['settings'], inFile: boolean): string =>
  settings.map(([, setting]) => nameOf(setting, inFile)).join(' or ')

/** What lacks a setting that it needs. One that was set wrongly is not lacking: that has been reported already. */
function findLacking(all: readonly GivenSource[], problems: string[]): void {
  // The directory may hold what is not set.
  if (all.some(({ descriptor, given }) => descriptor.completesOthers && given.size > 0)) return
  const lacks = (from: Given, settings: GivenSource['settings']) =>
    problems.push(`${from.from} is set without ${namesOf(settings, from.inFile)}`)

  const locating = all.filter(({ descriptor }) => descriptor.locatesServer)
  const isLocated = locating.some(({ given }) => given.size > 0)
  for (const { settings, given } of all) {
    const [main, ...others] = settings
    const mainGiven = main && given.get(main[0])
    const [first] = given.values()
    if (mainGiven !== undefined) {
      for (const [key, setting] of others) if (setting.required && !given.has(key)) lacks(mainGiven, [[key, setting]])
      continue
    }
    if (main === undefined || first === undefined) continue
    // Without a directory it is the address of the server that the setting may follow from.
    const fallback = main[1].fallback === undefined ? [] : locating.filter(({ descriptor }) => !descriptor.completesOthers)
    if (fallback.every(({ given }) => given.size === 0)) lacks(first, [main, ...fallback.flatMap(mainOf)])
  }
  const unlocated = isLocated ? [] : all.flatMap(({ settings, given }) => given.get(settings[0]?.[0] ?? '') ?? [])
  for (const from of unlocated.slice(0, 1)) lacks(from, locating.flatMap(mainOf))
}

/** What was set of the settings of a server that belong to no source. */
export type ServerValues = ReadSettings<typeof serverSettings>

/**
 * One server from its settings; mistakes are added to `problems`.
 * @param entry its place in the config file; undefined where it has none
 * @returns `server`: undefined where nothing says what to watch
 */
export function readServer(
  places: Places,
  entry: string | undefined,
  problems: string[],
): ServerValues & { readonly server: ServerSettings | undefined } {
  const own = readSettings(serverSettings, places, problems)
  const all = sources.map((descriptor: SourceDescriptor): GivenSource => {
    const table = settingsOf(descriptor)
    return { descriptor, settings: Object.entries(table), ...readSettings(table, places, problems) }
  })
  const locating = all.filter(({ descriptor }) => descriptor.locatesServer)
  if (entry !== undefined && locating.every(({ given }) => given.size === 0)) {
    problems.push(
      `${entry} has no ${locating
        .flatMap(mainOf)
        .map(([, { file }]) => file)
        .join(' and no ')}`,
    )
  } else findLacking(all, problems)

  const given = all.flatMap(({ descriptor, values }) => {
    const known = Object.entries(values).filter(([, value]) => value !== undefined)
    return known.length > 0 ? [[descriptor, Object.fromEntries(known)] as const] : []
  })
  const isLocated = given.some(([{ locatesServer }]) => locatesServer)
  const server = isLocated && {
    name: checked<typeof serverSettings>(own.values).name,
    sources: Object.fromEntries(given.map(([{ name }, values]) => [name, values])) as GivenSources,
  }
  return { ...own, server: server || undefined }
}
