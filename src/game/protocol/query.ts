import { ProtocolError } from './error.ts'

/** The reply to a full stat request (https://minecraft.wiki/w/Query). Values that the server omits are absent. */
export interface FullStat {
  readonly edition?: 'java' | 'bedrock'
  /** With formatting codes. */
  readonly motd?: string
  readonly version?: string
  /** The server software, as it precedes the list of plugins: `Paper`; absent on vanilla. */
  readonly software?: string
  readonly plugins?: readonly string[]
  readonly map?: string
  readonly online?: number
  readonly max?: number
  readonly names: readonly string[]
  /** False if the list of names is truncated. */
  readonly complete: boolean
}

const maxNames = 10_000
/** Maximum number of keys, values and parts of a MOTD with NULs. */
const maxParts = 1_000

function request(type: number, session: number, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.from([0xfe, 0xfd, type, 0, 0, 0, 0])
  head.writeInt32BE(session, 3)
  return Buffer.concat([head, body])
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** @param session returned by {@link toSession} */
export const encodeChallenge = (session: number): Buffer => request(9, session)

/** The token of a challenge, which a server expects in a stat request. */
export interface ChallengeToken {
  readonly value: number
  /** Sent as four bytes instead of digits, by Nukkit and its forks. */
  readonly isRaw: boolean
}

/** The full stat request, which is four bytes longer than the basic one, or eight for Nukkit. */
export const encodeFullStat = (session: number, { value, isRaw }: ChallengeToken): Buffer =>
  request(0, session, Buffer.concat([int32(value), Buffer.alloc(isRaw ? 8 : 4)]))

/** Converts any number to a valid session id: servers mask some bits of each byte. */
export const toSession = (value: number): number => value & 0x0f0f0f0f

/** Returns true for a reply of this type to this session. Other datagrams must be ignored. */
export const isReply = (datagram: Buffer, type: 0 | 9, session: number): boolean =>
  datagram.length >= 5 && datagram[0] === type && datagram.readInt32BE(1) === session

/** @throws ProtocolError */
export function decodeChallenge(datagram: Buffer): ChallengeToken {
  const body = datagram.subarray(5)
  // With or without the NUL at the end.
  const hasRawLength = body.length === 4 || (body.length === 5 && body[4] === 0)
  const isRaw = hasRawLength && !/^-?\d+\0*$/.test(body.toString('latin1'))
  if (isRaw) return { value: body.readInt32BE(), isRaw }
  const text = body.toString('latin1').split('\0', 1)[0] ?? ''
  const value = Number(text)
  if (!/^-?\d{1,10}$/.test(text) || value < -(2 ** 31) || value >= 2 ** 31)
    throw new ProtocolError('malformed', 'the token is not a 32-bit number')
  return { value, isRaw }
}

/** Servers send ISO-8859-1 before 1.21.11 and UTF-8 since then. Undefined if the version is unknown. */
function isUtf8(version: string | undefined): boolean | undefined {
  const parts = /(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?/
    .exec(version ?? '')
    ?.slice(1)
    .map((digits) => Number(digits ?? 0))
  if (parts === undefined) return undefined
  const [major = 0, minor = 0, patch = 0] = parts
  return major > 1 || minor > 21 || (minor === 21 && patch >= 11)
}

function textDecoder(version: string | undefined): (latin1: string) => string {
  if (isUtf8(version) === false) return (latin1) => latin1
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  return (latin1) => {
    try {
      return utf8.decode(Buffer.from(latin1, 'latin1'))
    } catch {
      return latin1
    }
  }
}

/** The keys of the game, and those of Nukkit and PocketMine-MP. */
const knownKeys: ReadonlySet<string | undefined> = new Set([
  ...['hostname', 'gametype', 'game_id', 'version', 'plugins', 'map', 'numplayers', 'maxplayers', 'hostport', 'hostip'],
  ...['server_engine', 'whitelist'],
])

/**
 * Reads the keys and values, in any order. The MOTD may contain NULs, so it ends before the next known key.
 * @param isTruncated whether the last of them may be incomplete, and is ignored
 */
function readValues(head: string, isTruncated: boolean): Map<string, string> {
  const values = new Map<string, string>()
  const parts = head.split('\0', maxParts)
  if (isTruncated) parts.length -= 1 + ((parts.length - 1) % 2)
  for (let index = 0; index + 1 < parts.length; ) {
    const key = parts[index]
    let next = index + 2
    // From the next key, keys and values alternate up to the end.
    const isNext = () => next === parts.length || ((parts.length - next) % 2 === 0 && knownKeys.has(parts[next]))
    if (key === 'hostname') while (!isNext()) next++
    if (key) values.set(key, parts.slice(index + 1, next).join('\0'))
    index = next
  }
  return values
}

/** `Paper on Bukkit 1.21.4-R0.1-SNAPSHOT: LuckPerms 5.4; Vault 1.7`, `PocketMine-MP 5.39.0` */
function readPlugins(text: string): Pick<FullStat, 'software' | 'plugins'> {
  const [, server = '', list = ''] = /^([^:]*)(?::\s*(.*))?$/s.exec(text) ?? []
  const software = /^(\S+) (?:on |\d)/.exec(server)?.[1] ?? (server || undefined)
  const plugins = list.split(/;\s*/, maxNames).filter((name) => name !== '')
  return { plugins, ...(software !== undefined && { software }) }
}

const count = <K extends string>(name: K, text: string | undefined) =>
  (/^\d{1,9}$/.test(text ?? '') ? { [name]: Number(text) } : {}) as { readonly [P in K]?: number }

/**
 * A basic stat: some servers send it although the full one was requested.
 * @throws ProtocolError
 */
function decodeBasicStat(text: string): FullStat {
  const [motd, , map, online, max, rest] = text.split('\0', 6)
  const counts = { ...count('online', online), ...count('max', max) }
  if (motd === undefined || map === undefined || rest === undefined || counts.online === undefined)
    throw new ProtocolError('malformed', 'the stat is neither a full nor a basic one')
  const decode = textDecoder(undefined)
  return { motd: decode(motd), map: decode(map), ...counts, names: [], complete: false }
}

/** @throws ProtocolError */
export function decodeFullStat(datagram: Buffer): FullStat {
  const text = datagram.toString('latin1', 5)
  // `splitnum` on most servers, `GeyserMC` on Geyser, whose game id is that of the Java edition.
  const [padding, name] = /^(.{8})\0.\0/s.exec(text) ?? []
  if (padding === undefined) return decodeBasicStat(text)
  const body = text.slice(padding.length)
  const separator = '\0\0\x01player_\0\0'
  const middle = body.lastIndexOf(separator)
  const values = readValues(middle < 0 ? body : body.slice(0, middle), middle < 0)
  if (values.size === 0) throw new ProtocolError('malformed', 'the full stat has no values')
  const isGeyser = name === 'GeyserMC'
  // PocketMine-MP and Nukkit send MINECRAFTPE.
  const edition = isGeyser || values.get('game_id') === 'MINECRAFTPE' ? 'bedrock' : 'java'
  const decode = textDecoder(edition === 'java' ? values.get('version') : undefined)
  const list = middle < 0 ? [] : body.slice(middle + separator.length).split('\0', maxNames + 1)
  // An empty name ends the list. At the very end of the datagram it may be the result of truncation.
  const end = list.slice(0, -1).indexOf('')
  const names = list.slice(0, Math.max(0, end)).map(decode)
  const string = <K extends string>(key: string, as: K) =>
    (values.has(key) ? { [as]: decode(values.get(key) ?? '') } : {}) as { readonly [P in K]?: string }
  const plugins = values.get('plugins')
  return {
    edition,
    ...string('hostname', 'motd'),
    ...string('version', 'version'),
    ...string('map', 'map'),
    ...count('online', values.get('numplayers')),
    ...count('max', values.get('maxplayers')),
    ...(plugins !== undefined && readPlugins(decode(plugins))),
    ...(isGeyser && { software: 'Geyser' }),
    names,
    complete: end >= 0,
  }
}
