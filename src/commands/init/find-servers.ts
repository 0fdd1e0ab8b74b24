import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { decodeProperties, type Properties, parseProperties, portIn } from '../../game/sources/directory/server-properties.ts'
import { serverName } from '../../settings/kinds/index.ts'
import type { Texts } from '../../settings/read.ts'
import { defaultPorts, formatServerAddress, type ServerAddress } from '../../util/address.ts'
import { readFileUpTo } from '../../util/files.ts'
import { createLimiter } from '../../util/limiter.ts'
import { look } from '../status/look.ts'

/** A server to set up. */
export interface PlannedServer {
  readonly name: string
  /** Its settings, by environment name. */
  readonly settings: Texts
}

/** Folders whose subfolders may be servers, besides the working directory, the folder above it and the home folder. */
const usualFolders = ['/srv', '/opt', '/var/opt']
const maxPropertiesBytes = 1024 * 1024
/** Maximum number of ports of one protocol, and of folders, that are tried. */
const [maxPorts, maxFolders] = [200, 2_000]
const maxRunning = 20
const probeTimeoutMs = 1_000
/** Below it are the ports of the system's services, which should not receive the packets of a game. */
const firstUserPort = 1024

/** A name that is valid for a server, and not used yet. */
function nameFor(text: string, used: Set<string>): string {
  const words = text.split(/[^\p{L}\p{N}._]+/u).filter((word) => word !== '')
  const plain = words.join('-').replace(/^\.+/, '')
  const base = serverName.parse(plain) === undefined ? 'server' : plain
  let name = base
  for (let count = 2; used.has(name); count++) name = `${base}-${count}`
  used.add(name)
  return name
}

/** Gives each server a name: that of its folder or host. */
export function nameServers(list: readonly Texts[]): readonly PlannedServer[] {
  const used = new Set<string>()
  return list.map((settings) => {
    const { MC_NAME: given, MC_DIRECTORY: folder, MC_SERVER: address = '' } = settings
    const host = address.replace(/^\w+:\/\//, '').replace(/^(127\.0\.0\.1|localhost|\[::1\]):/, 'minecraft-')
    const own = given ?? (folder === undefined ? host.replace(/[:-](25565|19132)$/, '') : basename(folder))
    return { name: nameFor(own, used), settings }
  })
}

/** The content of server.properties in a folder; undefined if there is none that can be read. */
export async function readProperties(folder: string): Promise<Buffer | undefined> {
  const path = join(folder, 'server.properties')
  try {
    return (await stat(path)).isFile() ? await readFileUpTo(path, maxPropertiesBytes) : undefined
  } catch {
    return undefined
  }
}

export const propertiesIn = async (folder: string): Promise<Properties> =>
  parseProperties(decodeProperties((await readProperties(folder)) ?? Buffer.of()))

export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

const subfolders = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
}

/** The working directories of processes that belong to the user; only on Linux. */
async function processFolders(): Promise<readonly string[]> {
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  return await Promise.all(names.map((name) => readlink(`/proc/${name}/cwd`).catch(() => '')))
}

/** The folders with server.properties among the given ones and their subfolders. */
export async function foldersWithin(parents: readonly string[]): Promise<readonly string[]> {
  const lists = await Promise.all(parents.map(async (parent) => [parent, ...(await subfolders(parent))]))
  const all = [...new Set(lists.flat().map((path) => resolve(path)))].slice(0, maxFolders)
  const limit = createLimiter(() => maxRunning)
  const found = await Promise.all(
    all.map((folder) => limit(async () => ((await readProperties(folder)) === undefined ? [] : [folder]))),
  )
  return found.flat()
}

/** An IP address in hexadecimal, as in /proc/net: words of four bytes, each in the order of the processor. */
function parseHexAddress(hex: string): string {
  const address = ipaddr.fromByteArray([...Buffer.from(hex, 'hex').swap32()])
  return ipaddr.process(address.toString()).toString()
}

/**
 * The addresses that a table of /proc/net lists as listening, as others on this machine reach them.
 * @param state of a listening socket: 0A for TCP, 07 for UDP
 */
export function parseListening(table: string, state: '0A' | '07', edition: ServerAddress['edition']): readonly ServerAddress[] {
  return table.split('\n').flatMap((line) => {
    const [, hex = '', port = '', found] = /^\s*\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) \S+ ([0-9A-F]{2}) /.exec(line) ?? []
    if (found !== state) return []
    const host = parseHexAddress(hex)
    return [{ edition, host: host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, port: Number.parseInt(port, 16) }]
  })
}

const usualPorts = (edition: ServerAddress['edition']): readonly ServerAddress[] =>
  Array.from({ length: 10 }, (_, index) => ({ edition, host: '127.0.0.1', port: defaultPorts[edition] + index }))

/** What may be a server on this machine: what listens, or the usual ports if the system does not tell. */
async function candidates(): Promise<readonly ServerAddress[]> {
  const read = async (edition: ServerAddress['edition'], protocol: 'tcp' | 'udp') => {
    const tables = ['', '6'].map((suffix) => readFile(`/proc/net/${protocol}${suffix}`, 'utf8').catch(() => ''))
    const list = (await Promise.all(tables)).flatMap((table) =>
      parseListening(table, protocol === 'tcp' ? '0A' : '07', edition).filter(({ port }) => port >= firstUserPort),
    )
    const unique = [...new Map(list.map((address) => [formatServerAddress(address), address])).values()]
    const distance = ({ port }: ServerAddress) => Math.abs(port - defaultPorts[edition])
    return unique.length === 0 ? usualPorts(edition) : unique.toSorted((a, b) => distance(a) - distance(b)).slice(0, maxPorts)
  }
  return (await Promise.all([read('java', 'tcp'), read('bedrock', 'udp')])).flat()
}

/**
 * Finds the servers of this machine: the folders with server.properties near the working directory, in usual places and of
 * running processes, and the ports that answer a status.
 * @param given default: what listens on this machine
 */
export async function findServers(
  signal: AbortSignal,
  given?: { readonly addresses: readonly ServerAddress[]; readonly folders: readonly string[] },
): Promise<readonly PlannedServer[]> {
  const parents = given?.folders ?? ['.', dirname(resolve('.')), homedir(), ...usualFolders]
  const running = given === undefined ? await processFolders() : []
  const folders = await foldersWithin(parents)
  const others = await Promise.all(running.map(async (path) => (path && (await readProperties(path)) ? [path] : [])))
  const all = [...new Set([...folders, ...others.flat()])]
  const limit = createLimiter(() => maxRunning)
  const found = await Promise.all(
    (given?.addresses ?? (await candidates())).map((address) =>
      limit(async () => {
        const target = { text: formatServerAddress(address), addresses: [address] as const }
        const { failure } = await look(target, { timeoutMs: probeTimeoutMs, signal })
        return failure === undefined ? [address] : []
      }),
    ),
  )
  const ports = await Promise.all(all.map(async (folder) => portIn(await propertiesIn(folder), 'server-port')))
  const known = new Set(ports.map((port) => port ?? defaultPorts.java))
  const addresses = found.flat().filter(({ edition, port }) => edition === 'bedrock' || !known.has(port))
  return nameServers([
    ...all.map((folder) => ({ MC_DIRECTORY: folder })),
    ...addresses.map((address) => ({ MC_SERVER: formatServerAddress(address) })),
  ])
}
