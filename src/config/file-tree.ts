import { closestName } from '../settings/closest-name.ts'
import type { Given } from '../settings/read.ts'
import type { Setting } from '../settings/setting.ts'
import { isList, isMap, lineOf, type Tree } from '../util/yaml.ts'
import { removedSettings } from './removed-settings.ts'
import { settings, settingsOfServer } from './settings.ts'

/** A key of the file or of an entry of `servers`. */
interface KeyInfo {
  /** Whether it accepts a list. */
  readonly many: boolean
  /** A valid value, as written in the file. */
  readonly example: string
}

/** By key: `poll.interval`. */
type Keys = ReadonlyMap<string, KeyInfo>

const quotedExample = (text: string): string => (/^[\w./-]+$/.test(text) ? text : JSON.stringify(text))

const keysOf = (settings: readonly Setting<unknown>[]): Keys =>
  new Map(
    settings.flatMap(({ file, kind, secret, default: fallback }): (readonly [string, KeyInfo])[] => {
      if (file === undefined) return []
      const example = quotedExample(secret ? 'secret' : fallback || kind.example || '...')
      const many = kind.many === true
      return [
        [file, { many, example }],
        ...(secret ? [[`${file}File`, { many: false, example: '/run/secrets/name' }] as const] : []),
      ]
    }),
  )

/** The keys of the file itself, without `servers`. */
export const fileKeys: Keys = new Map([
  ['listen', { many: false, example: '"127.0.0.1:8080"' }],
  ...keysOf(Object.values(settings)),
])
/** The keys of an entry of `servers`. */
export const entryKeys = keysOf(settingsOfServer)

/** The keys of a section such as `poll.`. */
const within = (section: string, names: readonly string[]): readonly string[] => names.filter((name) => name.startsWith(section))

/** An example of the content of a section: `{ interval: 5s, timeout: 3s }`. */
function exampleOf(section: string, keys: Keys): string {
  // Not a secret and its file, which exclude each other.
  const isFile = (key: string) => key.endsWith('File') && keys.has(key.slice(0, -'File'.length))
  const pairs = [...keys].filter(([key]) => key.startsWith(section) && !isFile(key)).slice(0, 2)
  return `{ ${pairs.map(([key, { example }]) => `${key.slice(section.length)}: ${example}`).join(', ')} }`
}

/** Location of a mapping in the file. */
export interface Place {
  readonly path: string
  /** The entry that it belongs to, with a trailing dot: `servers[0].`; empty for the file itself. */
  readonly entry: string
  readonly keys: Keys
  /** Other keys, for messages: `servers`. */
  readonly others: readonly string[]
}

/** Names that users expect an address, or a part of it, to have. */
const namesOfAddress: ReadonlySet<string> = new Set(['host', 'ip', 'addr', 'url', 'server', 'port'])

/** The message for an unknown key: the most likely mistake and the valid keys. */
function adviseOn(name: string, section: string, open: string | undefined, { keys, others, entry }: Place): string {
  const names = [...keys.keys(), ...others]
  // After `poll:` without a value: its settings are probably not indented.
  if (open !== undefined && names.includes(`${open}.${name}`))
    return `wrong indentation; it belongs to "${open}:", indent it further than that line`
  if (section !== '' && names.some((other) => other === name || other.startsWith(`${name}.`)))
    return `wrong indentation; it does not belong to "${section.slice(0, -1)}:", indent it like that line`
  if (entry === '' && section === '' && entryKeys.has(name))
    return 'it is a setting of a server; move it to an entry of servers, indented further than the "-"'
  const removed = entry === '' && removedSettings.find(({ file }) => file === section + name)
  if (removed) return `the setting was removed; ${removed.instead}`
  if (namesOfAddress.has(name) && keys.has(`${section}address`))
    return `unknown setting; did you mean ${section}address? It is host or host:port`
  const here = within(section, names)
  const last = new Map(here.map((key) => [key.slice(section.length), key]))
  const elsewhere = section === '' ? names.filter((key) => key.endsWith(`.${name}`)) : []
  const sections = here.flatMap((key) =>
    key.slice(section.length).includes('.') ? [key.slice(section.length).split('.', 1)[0] ?? ''] : [],
  )
  const closest = closestName(name, [...last.keys(), ...sections], 2)
  const meant = closest === undefined ? elsewhere[0] : section + closest
  return `unknown setting; ${meant === undefined ? `expected one of ${here.join(', ')}` : `did you mean ${meant}?`}`
}

/** Flattens nested mappings to dotted keys, and lists of strings to comma-separated strings. */
export function readTree(tree: ReadonlyMap<string, Tree>, place: Place, problems: string[]): Map<string, Given> {
  const { path, entry, keys, others } = place
  const names = [...keys.keys()]
  const values = new Map<string, Given>()
  const readValue = (value: Tree, key: string, info: KeyInfo): void => {
    const from = `${path}: ${entry}${key}`
    if (typeof value === 'string') values.set(key, { from, inFile: true, text: value })
    else if (info.many && isList(value) && value.every((item) => typeof item === 'string')) {
      values.set(key, { from, inFile: true, text: value.join(',') })
    } else if (value !== null) {
      problems.push(`${from}: expected a single value${info.many ? ' or a list of values' : ''}, such as ${info.example}`)
      values.set(key, { from, inFile: true, text: undefined })
    }
  }
  const readAll = (tree: ReadonlyMap<string, Tree>, section: string): void => {
    let open: string | undefined
    for (const [name, value] of tree) {
      const key = section + name
      const info = keys.get(key)
      const isSection = within(`${key}.`, names).length > 0
      const line = lineOf(tree, name)
      const at = `${path}${line === undefined ? '' : `, line ${line}`}: ${entry}${key}`
      if (isSection && isMap(value)) readAll(value, `${key}.`)
      else if (info !== undefined) readValue(value, key, info)
      else if (section === '' && others.includes(name)) open = undefined
      else if (!isSection) problems.push(`${at}: ${adviseOn(name, section, open, place)}`)
      else if (value !== null)
        problems.push(`${at}: expected nested settings instead of a value, such as ${name}: ${exampleOf(`${key}.`, keys)}`)
      if (isSection) open = value === null ? key : undefined
    }
  }
  readAll(tree, '')
  return values
}
