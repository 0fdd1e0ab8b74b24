import { readFileSync } from 'node:fs'
import { parseHostPort } from '../game/protocol/address.ts'
import type { Setting } from './setting.ts'
import { settings, settingsOfServer } from './settings.ts'
import { parseTree, type Tree } from './yaml.ts'

/** A setting as it was given somewhere. */
export interface Given {
  /** Where, for messages. */
  readonly from: string
  readonly inFile: boolean
  /** Undefined where it could not be read, which has been reported then. */
  readonly text: string | undefined
}

export interface ServerEntry {
  /** For messages. */
  readonly place: string
  /** By the setting's key in the entry: `rcon.address`. */
  readonly settings: ReadonlyMap<string, Given>
}

export interface FileContents {
  /** By the setting's place in the file: `poll.interval`. */
  readonly settings: ReadonlyMap<string, Given>
  /** Undefined for an entry that could not be read. */
  readonly servers: readonly (ServerEntry | undefined)[]
}

const isMap = (value: Tree | undefined): value is ReadonlyMap<string, Tree> => value instanceof Map
const isList = (value: Tree): value is readonly Tree[] => Array.isArray(value)

/** Every place there is, and whether it takes a list too. */
type Places = ReadonlyMap<string, boolean>

/** Nested maps as dotted keys; a list of texts as its items joined by commas. */
function takeKnown(tree: ReadonlyMap<string, Tree>, place: string, known: Places, problems: string[]): Map<string, Given> {
  const keys = [...known.keys()]
  const values = new Map<string, Given>()
  const take = (value: Tree, key: string): void => {
    const from = `${place}${key}`
    const many = known.get(key)
    if (many === undefined) problems.push(`${from}: there is no such setting; known here: ${keys.join(', ')}`)
    else if (typeof value === 'string') values.set(key, { from, inFile: true, text: value })
    else if (many && isList(value) && value.every((item) => typeof item === 'string')) {
      values.set(key, { from, inFile: true, text: value.join(',') })
    } else if (value !== null) {
      problems.push(`${from}: expected a single value${many ? ' or a list of them' : ''}`)
      values.set(key, { from, inFile: true, text: undefined })
    }
  }
  const takeAll = (tree: ReadonlyMap<string, Tree>, before: string): void => {
    for (const [name, value] of tree) {
      const key = before + name
      const holdsOthers = keys.some((other) => other.startsWith(`${key}.`))
      if (holdsOthers && isMap(value)) takeAll(value, `${key}.`)
      else if (!holdsOthers || value !== null) take(value, key)
    }
  }
  takeAll(tree, '')
  return values
}

const placesOf = (settings: readonly Setting<unknown>[]): Places =>
  new Map(
    settings.flatMap(({ file, kind, secret }): (readonly [string, boolean])[] =>
      file === undefined ? [] : [[file, kind.many === true], ...(secret ? [[`${file}File`, false] as const] : [])],
    ),
  )

const filePlaces: Places = new Map([['listen', false], ...placesOf(Object.values(settings))])
const entryPlaces = placesOf(settingsOfServer)

/** `listen` as `host` and `port`, as if these had been written. */
function splitListen({ from, text }: Given, problems: string[]): readonly [string, Given][] {
  const parsed = text === undefined ? undefined : parseHostPort(text, 8080, 0)
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
    if (isMap(entry)) return { place, settings: takeKnown(entry, `${place}.`, entryPlaces, problems) }
    problems.push(`${place}: expected settings of a server, such as { name: survival, address: mc.example.org }`)
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
    problems.push(`${path}: expected settings, one a line, such as "listen: 127.0.0.1:8080"`)
    return undefined
  }
  const own = new Map(tree)
  own.delete('servers')
  const found = takeKnown(own, `${path}: `, filePlaces, problems)
  const listen = found.get('listen')
  return {
    settings: new Map([...found, ...(listen ? splitListen(listen, problems) : [])]),
    servers: readServers(tree?.get('servers') ?? null, path, problems),
  }
}
