import { readFileSync } from 'node:fs'
import { parseHostPort } from '../game/protocol/address.ts'
import { type Setting, settings } from './settings.ts'
import { parseTree, type Tree } from './yaml.ts'

/** Where a text came from, for messages, and the text. */
export interface Given {
  readonly from: string
  readonly text: string
}

export interface FileContents {
  /** By the setting's place in the file: `poll.interval`. */
  readonly values: ReadonlyMap<string, Given>
  /** The same for each server: keys of `serverKeys`. */
  readonly servers: readonly ReadonlyMap<string, Given>[]
}

/** Where each setting of a server stands in its entry of `servers`. */
export const serverKeys = {
  name: 'name',
  server: 'address',
  rcon: 'rcon.address',
  rconPassword: 'rcon.password',
  management: 'management.url',
  managementSecret: 'management.secret',
  managementCa: 'management.ca',
  managementFingerprint: 'management.fingerprint',
  query: 'query',
  directory: 'directory',
} as const satisfies Partial<Record<keyof typeof settings, string>>

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
    else if (typeof value === 'string') values.set(key, { from, text: value })
    else if (many && isList(value) && value.every((item) => typeof item === 'string')) {
      values.set(key, { from, text: value.join(',') })
    } else if (value !== null) problems.push(`${from}: expected a single value${many ? ' or a list of them' : ''}`)
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

const placesOf = (key: string, { secret, kind }: Setting<unknown>): readonly (readonly [string, boolean])[] => [
  [key, kind.many === true],
  ...(secret ? [[`${key}File`, false] as const] : []),
]

const filePlaces: Places = new Map([
  ['listen', false],
  ...Object.values(settings).flatMap((setting: Setting<unknown>) =>
    setting.file === undefined ? [] : placesOf(setting.file, setting),
  ),
])
const entryPlaces: Places = new Map(
  Object.entries(serverKeys).flatMap(([name, key]) => placesOf(key, settings[name as keyof typeof serverKeys])),
)

/** Reads the config file; mistakes are added to `problems`. `required` false: a missing file is an empty one. */
export function readConfigFile(path: string, required: boolean, problems: string[]): FileContents {
  const empty: FileContents = { values: new Map(), servers: [] }
  let source: string
  try {
    source = readFileSync(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (required || code !== 'ENOENT') problems.push(`${path}: cannot be read (${code})`)
    return empty
  }
  const tree = parseTree(source, path, problems)
  if (tree === undefined) return empty
  if (tree !== null && !isMap(tree)) {
    problems.push(`${path}: expected settings, one a line, such as "listen: 127.0.0.1:8080"`)
    return empty
  }
  const own = new Map(tree)
  const entries = own.get('servers') ?? []
  own.delete('servers')
  const values = takeKnown(own, `${path}: `, filePlaces, problems)
  const listen = values.get('listen')
  if (listen !== undefined) {
    const parsed = parseHostPort(listen.text, 8080, 0)
    if (parsed === undefined) problems.push(`${listen.from} is "${listen.text}"; expected host:port, such as 127.0.0.1:8080`)
    else {
      values.set('host', { from: listen.from, text: parsed.host })
      values.set('port', { from: listen.from, text: String(parsed.port) })
    }
  }
  if (!isList(entries)) {
    problems.push(`${path}: servers: expected a list`)
    return { values, servers: [] }
  }
  const servers = entries.map((entry, index) => {
    if (isMap(entry)) return takeKnown(entry, `${path}: servers[${index}].`, entryPlaces, problems)
    problems.push(
      `${path}: servers[${index}]: expected settings of a server, such as { name: survival, address: mc.example.org }`,
    )
    return new Map<string, Given>()
  })
  return { values, servers }
}
