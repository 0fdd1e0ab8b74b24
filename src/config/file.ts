import { existsSync } from 'node:fs'
import { parseHostPort } from '../game/protocol/address.ts'
import { closestName } from './closest-name.ts'
import { readText } from './read-text.ts'
import type { Setting } from './setting.ts'
import { settings, settingsOfServer } from './settings.ts'
import { lineOf, parseTree, type Tree } from './yaml.ts'

/** The text of a setting and its origin. */
export interface Given {
  /** For messages: `MC_SERVER`, `--mc-server`, `tickwarden.yaml: poll.interval`. */
  readonly from: string
  readonly inFile: boolean
  /** Undefined if it could not be read, which is already reported. */
  readonly text: string | undefined
}

export interface ServerEntry {
  /** For messages. */
  readonly place: string
  /** By the setting's key in the entry: `rcon.address`. */
  readonly settings: ReadonlyMap<string, Given>
}

export interface FileContents {
  /** By the setting's key in the file: `poll.interval`. */
  readonly settings: ReadonlyMap<string, Given>
  /** Undefined for an entry that could not be read. */
  readonly servers: readonly (ServerEntry | undefined)[]
}

const isMap = (value: Tree | undefined): value is ReadonlyMap<string, Tree> => value instanceof Map
const isList = (value: Tree): value is readonly Tree[] => Array.isArray(value)

/** A key of the file or of an entry of `servers`. */
interface KeyInfo {
  /** Whether it accepts a list. */
  readonly many: boolean
  /** A valid value, as written in the file. */
  readonly example: string
}

/** By key: `poll.interval`. */
type Keys = ReadonlyMap<string, KeyInfo>

/** Location of a mapping in the file. */
interface Place {
  readonly path: string
  /** The entry that it belongs to, with a trailing dot: `servers[0].`; empty for the file itself. */
  readonly entry: string
  readonly keys: Keys
  /** Other keys, for messages: `servers`. */
  readonly others: readonly string[]
}

/** The keys of a section such as `poll.`. */
const within = (section: string, names: readonly string[]): readonly string[] => names.filter((name) => name.startsWith(section))

/** An example of the content of a section: `{ interval: 5s, timeout: 3s }`. */
function exampleOf(section: string, keys: Keys): string {
  const pairs = [...keys].filter(([key]) => key.startsWith(section)).slice(0, 2)
  return `{ ${pairs.map(([key, { example }]) => `${key.slice(section.length)}: ${example}`).join(', ')} }`
}

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
  const here = within(section, names)
  const last = new Map(here.map((key) => [key.slice(section.length), key]))
  const elsewhere = section === '' ? names.filter((key) => key.endsWith(`.${name}`)) : []
  const sections = here.flatMap((key) =>
    key.slice(section.length).includes('.') ? [key.slice(section.length).split('.', 1)[0] ?? ''] : [],
  )
  const closest = closestName(name, [...last.keys(), ...sections], 2)
  const meant = closest === undefined ? elsewhere[0] : section + closest
  return `unknown setting; ${meant === undefined ? '' : `did you mean ${meant}? `}expected one of ${here.join(', ')}`
}

/** Flattens nested mappings to dotted keys, and lists of texts to comma-separated texts. */
function readTree(tree: ReadonlyMap<string, Tree>, place: Place, problems: string[]): Map<string, Given> {
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

const fileKeys: Keys = new Map([['listen', { many: false, example: '"127.0.0.1:8080"' }], ...keysOf(Object.values(settings))])
const entryKeys = keysOf(settingsOfServer)
const exampleEntry = '{ name: survival, address: mc.example.org }'

/** Splits `listen` into `host` and `port`. */
function splitListen({ from, text }: Given, problems: string[]): readonly [string, Given][] {
  const parsed = text === undefined ? undefined : parseHostPort(text, Number(settings.port.default), 0)
  if (parsed === undefined && text !== undefined)
    problems.push(`${from} is "${text}"; expected host:port, such as 127.0.0.1:8080`)
  return [
    ['host', { from, inFile: true, text: parsed?.host }],
    ['port', { from, inFile: true, text: parsed && String(parsed.port) }],
  ]
}

/** @param at location in the file: `servers[0]`; empty for the file itself */
function readEntry(entry: Tree, path: string, at: string, problems: string[]): ServerEntry | undefined {
  const place = at === '' ? path : `${path}: ${at}`
  if (isMap(entry)) {
    const where = { path, entry: at === '' ? '' : `${at}.`, keys: entryKeys, others: [] }
    return { place, settings: readTree(entry, where, problems) }
  }
  problems.push(`${place}: expected the settings of a server, such as ${exampleEntry}`)
  return undefined
}

function readServers(entries: Tree, path: string, problems: string[]): FileContents['servers'] {
  if (entries === null) return []
  if (!isList(entries)) {
    problems.push(`${path}: servers: expected a list, such as servers: [${exampleEntry}]`)
    return [undefined]
  }
  return entries.map((entry, index) => readEntry(entry, path, `servers[${index}]`, problems))
}

/**
 * Parses a file with a list of servers or the settings of one server; mistakes are added to `problems`.
 * @returns undefined for an entry that could not be read
 */
export function readServerFile(source: string, path: string, problems: string[]): readonly (ServerEntry | undefined)[] {
  const tree = parseTree(source, path, problems)
  if (tree === undefined) return [undefined]
  // An error, because a file that is being written is empty for a moment.
  if (tree === null) problems.push(`${path}: is empty; expected a server, such as ${exampleEntry}, or [] for none`)
  if (tree === null) return [undefined]
  return isList(tree)
    ? tree.map((entry, index) => readEntry(entry, path, `[${index}]`, problems))
    : [readEntry(tree, path, '', problems)]
}

/** Names of the config file in the working directory. */
const fileNames = ['tickwarden.yaml', 'tickwarden.yml'] as const

/** The config file in the working directory; undefined if there is none. */
export function findConfigFile(problems: string[]): string | undefined {
  const found = fileNames.filter((name) => existsSync(name))
  if (found.length > 1) problems.push(`${found.join(' and ')} both exist; remove one of them`)
  return found[0]
}

/**
 * Reads the config file; mistakes are added to `problems`.
 * @returns undefined if the file cannot be read or is not valid YAML
 */
export function readConfigFile(path: string, problems: string[]): FileContents | undefined {
  let source: string
  try {
    source = readText(path)
  } catch (error) {
    problems.push(`${path}: cannot be read (${(error as Error).message})`)
    return undefined
  }
  const tree = parseTree(source, path, problems)
  if (tree === undefined) return undefined
  if (tree !== null && !isMap(tree)) {
    const expected = isList(tree)
      ? 'expected the list of servers below the line "servers:"'
      : 'expected one setting per line, such as "listen: 127.0.0.1:8080"'
    problems.push(`${path}: ${expected}`)
    return undefined
  }
  const found = readTree(tree ?? new Map(), { path, entry: '', keys: fileKeys, others: ['servers'] }, problems)
  const listen = found.get('listen')
  return {
    settings: new Map([...found, ...(listen ? splitListen(listen, problems) : [])]),
    servers: readServers(tree?.get('servers') ?? null, path, problems),
  }
}
