import { readFileSync } from 'node:fs'
import { parseHostPort } from '../game/protocol/address.ts'
import type { Setting } from './setting.ts'
import { settings, settingsOfServer } from './settings.ts'
import { parseTree, type Tree } from './yaml.ts'

/** The text of a setting, and where it was given. */
export interface Given {
  /** For messages: `MC_SERVER`, `--mc-server`, `tickwarden.yaml: poll.interval`. */
  readonly from: string
  readonly inFile: boolean
  /** Undefined where it could not be read: that is reported already. */
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

/** The keys of the file or of an entry, with whether each takes a list too. */
type Keys = ReadonlyMap<string, boolean>

/** Nested maps as dotted keys; a list of texts as its items joined by commas. */
function readTree(tree: ReadonlyMap<string, Tree>, place: string, known: Keys, problems: string[]): Map<string, Given> {
  const keys = [...known.keys()]
  const values = new Map<string, Given>()
  const readValue = (value: Tree, key: string): void => {
    const from = `${place}${key}`
    const many = known.get(key)
    if (many === undefined) problems.push(`${from}: unknown setting; expected one of ${keys.join(', ')}`)
    else if (typeof value === 'string') values.set(key, { from, inFile: true, text: value })
    else if (many && isList(value) && value.every((item) => typeof item === 'string')) {
      values.set(key, { from, inFile: true, text: value.join(',') })
    } else if (value !== null) {
      problems.push(`${from}: expected a single value${many ? ' or a list of them' : ''}`)
      values.set(key, { from, inFile: true, text: undefined })
    }
  }
  const readAll = (tree: ReadonlyMap<string, Tree>, before: string): void => {
    for (const [name, value] of tree) {
      const key = before + name
      const holdsOthers = keys.some((other) => other.startsWith(`${key}.`))
      if (holdsOthers && isMap(value)) readAll(value, `${key}.`)
      else if (!holdsOthers || value !== null) readValue(value, key)
    }
  }
  readAll(tree, '')
  return values
}

const keysOf = (settings: readonly Setting<unknown>[]): Keys =>
  new Map(
    settings.flatMap(({ file, kind, secret }): (readonly [string, boolean])[] =>
      file === undefined ? [] : [[file, kind.many === true], ...(secret ? [[`${file}File`, false] as const] : [])],
    ),
  )

const fileKeys: Keys = new Map([['listen', false], ...keysOf(Object.values(settings))])
const entryKeys = keysOf(settingsOfServer)

/** `listen` as `host` and `port`, as if these had been written. */
function splitListen({ from, text }: Given, problems: string[]): readonly [string, Given][] {
  const parsed = text === undefined ? undefined : parseHostPort(text, Number(settings.port.default), 0)
  if (parsed === undefined && text !== undefined)
    problems.push(`${from} is "${text}"; expected host:port, such as 127.0.0.1:8080`)
  return [
    ['host', { from, inFile: true, text: parsed?.host }],
    ['port', { from, inFile: true, text: parsed && String(parsed.port) }],
  ]
}

function readServers(entries: Tree, path: string, problems: string[]): FileContents['servers'] {
  if (entries === null) return []
  if (!isList(entries)) {
    problems.push(`${path}: servers: expected a list`)
    return [undefined]
  }
  return entries.map((entry, index) => {
    const place = `${path}: servers[${index}]`
    if (isMap(entry)) return { place, settings: readTree(entry, `${place}.`, entryKeys, problems) }
    problems.push(`${place}: expected the settings of a server, such as { name: survival, address: mc.example.org }`)
    return undefined
  })
}

/**
 * Reads the config file; mistakes are added to `problems`.
 * @param required false: a missing file is an empty one
 * @returns undefined where the file, or what is in it, cannot be read
 */
export function readConfigFile(path: string, required: boolean, problems: string[]): FileContents | undefined {
  let source = ''
  try {
    source = readFileSync(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (required || code !== 'ENOENT') {
      problems.push(`${path}: cannot be read (${code})`)
      return undefined
    }
  }
  const tree = parseTree(source, path, problems)
  if (tree === undefined) return undefined
  if (tree !== null && !isMap(tree)) {
    problems.push(`${path}: expected one setting per line, such as "listen: 127.0.0.1:8080"`)
    return undefined
  }
  const own = new Map(tree)
  own.delete('servers')
  const found = readTree(own, `${path}: `, fileKeys, problems)
  const listen = found.get('listen')
  return {
    settings: new Map([...found, ...(listen ? splitListen(listen, problems) : [])]),
    servers: readServers(tree?.get('servers') ?? null, path, problems),
  }
}
