import { readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
import { parseHostPort } from '../game/protocol/address.ts'
import { type Setting, settings } from './settings.ts'

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

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Nested maps as dotted keys; a list of scalars as its items joined by commas. */
function flatten(value: unknown, key: string, into: Map<string, unknown>): void {
  if (isMap(value)) for (const [name, inner] of Object.entries(value)) flatten(inner, key === '' ? name : `${key}.${name}`, into)
  else into.set(key, Array.isArray(value) && value.every((item) => typeof item !== 'object') ? value.join(',') : value)
}

function takeKnown(tree: unknown, place: string, known: ReadonlySet<string>, problems: string[]): Map<string, Given> {
  const flat = new Map<string, unknown>()
  flatten(tree, '', flat)
  const values = new Map<string, Given>()
  for (const [key, value] of flat) {
    const from = `${place}${key}`
    if (value === null) continue
    if (!known.has(key)) problems.push(`${from}: there is no such setting; known here: ${[...known].join(', ')}`)
    else if (typeof value === 'object') problems.push(`${from}: expected a single value or a list of them`)
    else values.set(key, { from, text: String(value) })
  }
  return values
}

const withFile = (key: string, { secret }: Setting<unknown>): string[] => (secret ? [key, `${key}File`] : [key])

const fileKeys: ReadonlySet<string> = new Set([
  'listen',
  ...Object.values(settings).flatMap((setting: Setting<unknown>) =>
    setting.file === undefined ? [] : withFile(setting.file, setting),
  ),
])
const entryKeys: ReadonlySet<string> = new Set(
  Object.entries(serverKeys).flatMap(([name, key]) => withFile(key, settings[name as keyof typeof serverKeys])),
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
  const document = parseDocument(source)
  if (document.errors.length > 0) {
    problems.push(...document.errors.map((error) => `${path}: ${error.message.split('\n')[0]}`))
    return empty
  }
  const tree: unknown = document.toJS() ?? {}
  if (!isMap(tree)) {
    problems.push(`${path}: expected settings, one a line, such as "listen: 127.0.0.1:8080"`)
    return empty
  }
  const { servers: entries = [], ...rest } = tree
  const values = takeKnown(rest, `${path}: `, fileKeys, problems)
  const listen = values.get('listen')
  if (listen !== undefined) {
    const parsed = parseHostPort(listen.text, 8080)
    if (parsed === undefined) problems.push(`${listen.from} is "${listen.text}"; expected host:port, such as 127.0.0.1:8080`)
    else {
      values.set('host', { from: listen.from, text: parsed.host })
      values.set('port', { from: listen.from, text: String(parsed.port) })
    }
  }
  if (!Array.isArray(entries)) {
    problems.push(`${path}: servers: expected a list`)
    return { values, servers: [] }
  }
  const servers = entries.map((entry: unknown, index) => {
    if (isMap(entry)) return takeKnown(entry, `${path}: servers[${index}].`, entryKeys, problems)
    problems.push(
      `${path}: servers[${index}]: expected settings of a server, such as { name: survival, address: mc.example.org }`,
    )
    return new Map<string, Given>()
  })
  return { values, servers }
}
