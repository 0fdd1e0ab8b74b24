import type { Given } from '../settings/read.ts'
import { bedrockScheme } from '../util/address.ts'
import { isList, isMap, parseTree, type Tree } from '../util/yaml.ts'
import { entryKeys, readTree } from './file-tree.ts'

export interface ServerEntry {
  /** For messages. */
  readonly place: string
  /** By the setting's key in the entry: `rcon.address`. */
  readonly settings: ReadonlyMap<string, Given>
}

const exampleEntry = '{ name: survival, address: mc.example.org }'

const editionKey = 'edition'

/** Applies the key `edition`, which other programs have, to the address: `bedrock://` before it. */
function applyEdition(given: Tree, settings: Map<string, Given>, place: string, problems: string[]): void {
  const address = settings.get('address')
  const edition = typeof given === 'string' ? given.toLowerCase() : undefined
  if (edition !== 'java' && edition !== 'bedrock') {
    problems.push(`${place}${editionKey}: expected java or bedrock`)
  } else if (edition === 'bedrock' && address === undefined) {
    problems.push(`${place}${editionKey} is set without address`)
  } else if (edition === 'java' && address?.text?.startsWith(bedrockScheme)) {
    problems.push(`${place}${editionKey} is java, but the address begins with ${bedrockScheme}`)
  } else if (edition === 'bedrock' && address?.text !== undefined && !address.text.includes('://')) {
    settings.set('address', { ...address, text: `${bedrockScheme}${address.text.trim()}` })
  }
}

/** @param at location in the file: `servers[0]`; empty for the file itself */
function readEntry(entry: Tree, path: string, at: string, problems: string[]): ServerEntry | undefined {
  const place = at === '' ? path : `${path}: ${at}`
  if (isMap(entry)) {
    const where = { path, entry: at === '' ? '' : `${at}.`, keys: entryKeys, others: [editionKey] }
    const settings = readTree(entry, where, problems)
    const edition = entry.get(editionKey) ?? null
    if (edition !== null) applyEdition(edition, settings, `${path}: ${where.entry}`, problems)
    return { place, settings }
  }
  problems.push(`${place}: expected the settings of a server, such as ${exampleEntry}`)
  return undefined
}

/** Reads the value of `servers`; undefined for an entry that could not be read. */
export function readServers(entries: Tree, path: string, problems: string[]): readonly (ServerEntry | undefined)[] {
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
