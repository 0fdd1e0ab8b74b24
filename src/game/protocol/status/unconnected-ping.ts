import { toInteger } from '../decimal.ts'
import { ProtocolError } from '../error.ts'
import { parseGameMode } from '../game-mode.ts'

// The unconnected ping of RakNet, supported by Bedrock servers: https://minecraft.wiki/w/RakNet#Unconnected_Ping

const ids = { ping: 0x01, pong: 0x1c } as const
const magic = Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex')
/** The client's GUID; any value works. */
const guid = Buffer.alloc(8, 0x02)
/** Packet id, time, server GUID and magic. */
const headBytes = 1 + 8 + 8 + 16
const lengthBytes = 2
const maxBytes = 8_192
/** Edition, name, protocol, version and both counts. Servers may omit the rest. */
const minFields = 6

/**
 * The status of a Bedrock server. Values that the server omits are absent: all of them if `enable-lan-visibility` is false, or LANBroadcast
 * in its level.dat is 0, for which Bedrock Dedicated Server 1.26.40 sends a pong that ends after the magic.
 */
export interface BedrockStatus {
  /** Name and level name, with formatting codes, joined by a line break. */
  readonly motd?: string
  readonly protocol?: number
  readonly version?: string
  readonly playersOnline?: number
  readonly playersMax?: number
  /** As sent by the server: `Survival`. */
  readonly gameMode?: string
  /** The server software if the level name is the default of that software. */
  readonly software?: string
}

/** Default level names of server software. Vanilla servers send the name of the world. */
const softwareByLevel: readonly (readonly [RegExp, string])[] = [
  [/^PocketMine-MP$/, 'PocketMine-MP'],
  [/^Powered by Nukkit\b/, 'Nukkit'],
  [/^(?:https:\/\/)?(?:www\.)?powernukkitx?\.(?:org|com)$/i, 'PowerNukkit'],
  [/^(?:Geyser|Another Geyser server\.)$/, 'Geyser'],
]

export interface Pong {
  /** The time of the ping; some servers send another value. */
  readonly time: bigint
  readonly status: BedrockStatus
}

/** @param time returned in the pong, to match it to its ping */
export function encodeUnconnectedPing(time: bigint): Buffer {
  const head = Buffer.alloc(9)
  head[0] = ids.ping
  head.writeBigInt64BE(time, 1)
  return Buffer.concat([head, magic, guid])
}

/** @throws ProtocolError `malformed` if it is not a pong, `too_large` if it is longer than 8 KiB */
export function decodeUnconnectedPong(datagram: Buffer): Pong {
  if (datagram.length > maxBytes) throw new ProtocolError('too_large', `the pong is longer than ${maxBytes} bytes`)
  const isPong = datagram.length >= headBytes && datagram[0] === ids.pong && datagram.subarray(17, headBytes).equals(magic)
  const text = isPong ? readText(datagram.subarray(headBytes)) : undefined
  if (text === undefined) throw new ProtocolError('malformed', 'the reply is not an unconnected pong')
  const time = datagram.readBigInt64BE(1)
  if (text === '') return { time, status: {} }
  const fields = splitFields(text)
  if (fields.length < minFields) throw new ProtocolError('malformed', `the pong has ${fields.length} fields`)
  return { time, status: toStatus(fields) }
}

/** Reads what follows the magic: nothing, or a text after its length. Undefined if the text is incomplete. */
function readText(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return ''
  const end = bytes.length < lengthBytes ? Number.POSITIVE_INFINITY : lengthBytes + bytes.readUInt16BE(0)
  return end > bytes.length ? undefined : bytes.toString('utf8', lengthBytes, end)
}

/** Splits at `;`. Within a field PocketMine writes `\;` for a semicolon and `\\` for a backslash. */
function splitFields(text: string): readonly string[] {
  const fields: string[] = []
  let field = ''
  for (const piece of text.split(/(\\[;\\]|;)/)) {
    if (piece === ';') {
      fields.push(field)
      field = ''
    } else field += /^\\[;\\]$/.test(piece) ? piece[1] : piece
  }
  return [...fields, field]
}

/** Protocol, version, and both counts, followed by the server id or nothing. */
const counts = [/^-?\d{1,10}$/, /^\d{1,3}(?:\.\d{1,4}){1,3}$/, /^\d{1,10}$/, /^-?\d{1,10}$/, /^(?:-?\d{1,20})?$/] as const

/**
 * Returns the index of the protocol. Some servers, such as those of gophertunnel, do not escape a semicolon in a name, so the fields are
 * searched from the right.
 */
function findProtocol(fields: readonly string[]): number {
  for (let index = fields.length - 4; index > 2; index--)
    if (counts.every((pattern, offset) => pattern.test(fields[index + offset] ?? ''))) return index
  return 2
}

/** `edition;name;protocol;version;online;max;server id;level;game mode;game mode id;IPv4 port;IPv6 port` */
function toStatus(fields: readonly string[]): BedrockStatus {
  const start = findProtocol(fields)
  const name = fields.slice(1, start).join(';')
  const [protocol = '', version, online, max, , ...rest] = fields.slice(start)
  // The name contains an unescaped semicolon, and the positions of the other fields are unknown.
  if (!/^-?\d{1,10}$/.test(protocol)) return { motd: name }
  const modeIndex = Math.max(
    1,
    rest.findLastIndex((field) => parseGameMode(field) !== undefined),
  )
  const level = rest.slice(0, modeIndex).join(';')
  const gameMode = rest[modeIndex]
  const protocolNumber = toInteger(protocol)
  const playersOnline = toInteger(online)
  const playersMax = toInteger(max)
  const plainLevel = level.replaceAll(/§./g, '').trim()
  const software = softwareByLevel.find(([pattern]) => pattern.test(plainLevel))?.[1]
  return {
    motd: level ? `${name}\n${level}` : name,
    ...(protocolNumber !== undefined && { protocol: protocolNumber }),
    ...(version && { version }),
    ...(playersOnline !== undefined && { playersOnline }),
    ...(playersMax !== undefined && { playersMax }),
    ...(gameMode && { gameMode }),
    ...(software !== undefined && { software }),
  }
}
