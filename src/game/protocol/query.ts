import { ProtocolError } from './error.ts'

/** The reply to a full stat request (https://minecraft.wiki/w/Query). Values that the server omits are absent. */
export interface FullStat {
  readonly edition: 'java' | 'bedrock'
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

/** The full stat request, which is four bytes longer than the basic one. */
export const encodeFullStat = (session: number, token: number): Buffer =>
  request(0, session, Buffer.concat([int32(token), Buffer.alloc(4)]))

/** Converts any number to a valid session id: servers mask some bits of each byte. */
export const toSession = (value: number): number => value & 0x0f0f0f0f

/** Returns true for a reply of this type to this session. Other datagrams must be ignored. */
export const isReply = (datagram: Buffer, type: 0 | 9, session: number): boolean =>
  datagram.length >= 5 && datagram[0] === type && datagram.readInt32BE(1) === session

/** @throws ProtocolError */
export function decodeChallenge(datagram: Buffer): number {
  const text = datagram.toString('latin1', 5).split('\0', 1)[0] ?? ''
  const token = Number(text)
  if (!/^-?\d{1,10}$/.test(text) || token < -(2 ** 31) || token >= 2 ** 31)
    throw new ProtocolError('malformed', 'the token is not a 32-bit number')
  return token
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

/** Reads the keys and values. The MOTD comes first and may contain NULs, so it ends at the next key. */
function readValues(head: string): Map<string, string> {
  const values = new Map<string, string>()
  const start = 'hostname\0'
  const end = head.startsWith(start) ? head.lastIndexOf('\0gametype\0') : -1
  if (end >= start.length - 1) values.set('hostname', head.slice(start.length, Math.max(start.length, end)))
  const parts = (end < 0 ? head : head.slice(end + 1)).split('\0', 100)
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const key = parts[index]
    if (key) values.set(key, parts[index + 1] ?? '')
  }
  return values
}

/** `Paper on Bukkit 1.21.4-R0.1-SNAPSHOT: LuckPerms 5.4; Vault 1.7` */
function readPlugins(text: string): Pick<FullStat, 'software' | 'plugins'> {
  const [, server = '', list = ''] = /^([^:]*)(?::\s*(.*))?$/s.exec(text) ?? []
  const software = /^(\S+) on /.exec(server)?.[1] ?? (server || undefined)
  const plugins = list.split(/;\s*/, maxNames).filter((name) => name !== '')
  return { plugins, ...(software !== undefined && { software }) }
}

/** @throws ProtocolError */
export function decodeFullStat(datagram: Buffer): FullStat {
  const padding = 'splitnum\0\x80\0'
  const text = datagram.toString('latin1', 5)
  if (!text.startsWith(padding)) throw new ProtocolError('malformed', 'the full stat has no padding')
  const body = text.slice(padding.length)
  const separator = '\0\0\x01player_\0\0'
  const middle = body.lastIndexOf(separator)
  const values = readValues(middle < 0 ? body : body.slice(0, middle))
  if (values.size === 0) throw new ProtocolError('malformed', 'the full stat has no values')
  const decode = textDecoder(values.get('version'))
  const list = middle < 0 ? [] : body.slice(middle + separator.length).split('\0', maxNames + 1)
  // An empty name ends the list. At the very end of the datagram it may be the result of truncation.
  const end = list.slice(0, -1).indexOf('')
  const names = list.slice(0, Math.max(0, end)).map(decode)
  const string = <K extends string>(key: string, as: K) =>
    (values.has(key) ? { [as]: decode(values.get(key) ?? '') } : {}) as { readonly [P in K]?: string }
  const integer = <K extends string>(key: string, as: K) =>
    (/^\d{1,9}$/.test(values.get(key) ?? '') ? { [as]: Number(values.get(key)) } : {}) as { readonly [P in K]?: number }
  const plugins = values.get('plugins')
  return {
    // PocketMine-MP and Nukkit send MINECRAFTPE.
    edition: values.get('game_id') === 'MINECRAFTPE' ? 'bedrock' : 'java',
    ...string('hostname', 'motd'),
    ...string('version', 'version'),
    ...string('map', 'map'),
    ...integer('numplayers', 'online'),
    ...integer('maxplayers', 'max'),
    ...(plugins !== undefined && readPlugins(decode(plugins))),
    names,
    complete: end >= 0,
  }
}
