import { existsSync } from 'node:fs'
import { type DatabaseDeclaration, readDeclarations } from '../data/databases/declaration.ts'
import { readMaintenance } from '../maintenance/settings.ts'
import type { MaintenanceWindow } from '../maintenance/window.ts'
import { type NotifySettings, readNotify } from '../notify/settings.ts'
import type { Given } from '../settings/read.ts'
import { readText } from '../settings/read-text.ts'
import { parseHostPort } from '../util/address.ts'
import { isList, isMap, parseTree } from '../util/yaml.ts'
import { fileKeys, readTree } from './file-tree.ts'
import { readServers, type ServerEntry } from './server-file.ts'
import { settings } from './settings.ts'

export interface FileContents {
  /** By the setting's key in the file: `poll.interval`. */
  readonly settings: ReadonlyMap<string, Given>
  /** Undefined for an entry that could not be read. */
  readonly servers: readonly (ServerEntry | undefined)[]
  readonly databases: readonly DatabaseDeclaration[]
  readonly notify: NotifySettings | undefined
  readonly maintenance: readonly MaintenanceWindow[]
}

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

/** Names of the config file in the working directory. */
const fileNames = ['tickwarden.yaml', 'tickwarden.yml'] as const

/** The config file in the working directory; undefined if there is none. */
export function findConfigFile(problems: string[]): string | undefined {
  const found = fileNames.filter((name) => existsSync(name))
  if (found.length > 1) problems.push(`${found.join(' and ')} both exist; remove one of them`)
  return found[0]
}

/** Warns of files to which an editor has added the extension .txt, which Windows does not show. */
export function warnOfTextFiles(warnings: string[]): void {
  for (const name of [...fileNames, '.env'])
    if (!existsSync(name) && existsSync(`${name}.txt`)) warnings.push(`${name}.txt is not read; rename it to ${name}.`)
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
  const found = readTree(
    tree ?? new Map(),
    { path, entry: '', keys: fileKeys, others: ['servers', 'databases', 'notify', 'maintenance'] },
    problems,
  )
  const listen = found.get('listen')
  for (const key of ['host', 'port'])
    if (listen && found.has(key)) problems.push(`${listen.from} and ${key} are both set; remove one of them`)
  return {
    settings: new Map([...found, ...(listen ? splitListen(listen, problems) : [])]),
    servers: readServers(tree?.get('servers') ?? null, path, problems),
    databases: readDeclarations(tree?.get('databases') ?? null, path, problems),
    notify: readNotify(tree?.get('notify') ?? null, path, problems),
    maintenance: readMaintenance(tree?.get('maintenance') ?? null, path, problems),
  }
}
