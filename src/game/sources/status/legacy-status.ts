import type { LookupAddress } from 'node:dns'
import { formatHostPort, type HostPort } from '../../../util/address.ts'
import { toSeconds } from '../../../util/clock.ts'
import { isCount, isInteger } from '../../check.ts'
import { SourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { addressOfServer, type Network } from '../../network.ts'
import { parseVersionName } from '../../protocol/status/version-name.ts'
import { stripFormatting, toWellFormed } from '../../protocol/text.ts'
import { type GuardOptions, guardTcp, libraryTimeout } from './loopback-relay.ts'

/** Replies of the game have at most 256 characters. */
const maxReplyBytes = 8_192

/** The protocol of 1.6, whose servers wait 1.5 s for the rest of the request before they reply to FE 01. */
const firstWholeProtocol = 73
/** The protocol of 1.6.4. Servers since 1.7 send a higher one in a legacy reply. */
const lastLegacyProtocol = 78

/** Returns whether a legacy reply is that of a server since 1.7. */
export const isModern = ({ protocol = 0 }: Partial<Fields>): boolean => protocol > lastLegacyProtocol

/** Returns whether a legacy reply is that of a server that is to be sent the whole request of 1.6. */
export const wantsWhole = ({ protocol = 0 }: Partial<Fields>): boolean => protocol >= firstWholeProtocol

const encodeUint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff])
const encodeText = (text: string): Buffer => Buffer.concat([encodeUint16(text.length), Buffer.from(text, 'utf16le').swap16()])

/** FA with `MC|PingHost`, the protocol of 1.6.4, the host name and the port. */
function encodePingHost(host: string, port: number): Buffer {
  const values = Buffer.concat([Buffer.from([lastLegacyProtocol]), encodeText(host), encodeUint16(0), encodeUint16(port)])
  return Buffer.concat([Buffer.from([0xfa]), encodeText('MC|PingHost'), encodeUint16(values.length), values])
}

/** The reply of a server up to 1.3. Its message of the day may contain the separator too, as colours do. */
const oldReply = /^([^\0]*)§(-?\d{1,10})§(-?\d{1,10})$/

/** Undefined if it is incomplete or that of another server. */
function readOldReply(reply: Buffer) {
  const length = reply[0] === 0xff && reply.length >= 3 ? 2 * reply.readUInt16BE(1) : Number.NaN
  const text = reply.length === 3 + length ? reply.subarray(3).swap16().toString('utf16le') : ''
  const [, raw = '', online, max] = oldReply.exec(text) ?? []
  return online === undefined
    ? undefined
    : { version: null, motd: { raw }, players: { online: Number(online), max: Number(max) } }
}

/** Loads the library on demand: few servers are this old, and it would slow down every command. */
export const loadLegacyLibrary = () => import('minecraft-server-util')

export interface LegacyStatusOptions extends Omit<GuardOptions, 'target' | 'suffix'> {
  readonly network: Network
  /** Those of the server. */
  readonly addresses: readonly LookupAddress[]
  readonly server: HostPort
  /** The host name in the request of 1.6, at most 255 characters; default: only FE 01 is sent. Servers up to 1.3 do not reply to more. */
  readonly hostname?: string | undefined
}

/**
 * Reads the status of a server from beta 1.8 to 1.6, which replies to FE 01 (1.6: with FA and `MC|PingHost`) with one string
 * (https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping#1.6).
 * @throws SourceError, or the error of the system if there is no connection
 */
export async function readLegacyStatus({
  network,
  addresses,
  server,
  hostname,
  ...options
}: LegacyStatusOptions): Promise<Partial<Fields>> {
  const target = formatHostPort(server)
  // Loaded before connecting, so that no event of the connection is missed.
  const { statusLegacy } = await loadLegacyLibrary()
  const upstream = await network.connect(addresses, server.port, options.signal)
  options.phases?.end('connect')
  const ip = addressOfServer(upstream, addresses, network)
  const suffix = hostname === undefined ? undefined : encodePingHost(hostname, server.port)
  const { value, latency } = await guardTcp(upstream, maxReplyBytes, { ...options, target, suffix }, async (port, received) => {
    const read = statusLegacy('127.0.0.1', port, { enableSRV: false, timeout: libraryTimeout })
    // The library ends the message of the day of an old server at its first colour, and takes that for the counts.
    await read.catch(() => {})
    return readOldReply(received()) ?? (await read)
  })
  const { version, players, motd } = value
  // The library accepts any text after FF. Without the counts it is not a status.
  if (!isInteger(players.online) || !isInteger(players.max)) {
    throw new SourceError('malformed', `${target}: the reply is not a legacy status`)
  }
  return {
    edition: 'java',
    ...(version?.name && parseVersionName(stripFormatting(version.name))),
    ...(isCount(version?.protocol) && { protocol: version.protocol }),
    motd: stripFormatting(motd.raw),
    ...(motd.raw.includes('§') && { formattedMotd: toWellFormed(motd.raw) }),
    // Some servers send -1 for no maximum, and plugins such counts.
    ...(isCount(players.online) && { playersOnline: players.online }),
    ...(isCount(players.max) && { playersMax: players.max }),
    ...(players.online === 0 && { players: { players: [], complete: true } }),
    ...(ip !== undefined && { ip }),
    port: server.port,
    latency: toSeconds(latency),
  }
}
