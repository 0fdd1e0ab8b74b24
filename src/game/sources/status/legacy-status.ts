import type { Socket } from 'node:net'
import { SourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { stripFormatting } from '../../protocol/text.ts'
import { parseVersionName } from '../../protocol/version-name.ts'
import { type GuardOptions, guardTcp, libraryTimeout } from './loopback-relay.ts'

/** The game's own answers hold at most 256 characters. */
const maxAnswer = 8_192

const isCount = (value: number | null | undefined): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** Few servers are this old, and loading the library takes longer than a whole command such as --help. */
export const loadLegacyLibrary = () => import('minecraft-server-util')

/**
 * The status of a server from beta 1.8 to 1.6, which answers FE 01 with one text
 * (https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping#1.6).
 * @param connect opens the connection, which is destroyed on every path
 * @throws SourceError
 */
export async function readLegacyStatus(connect: () => Socket, options: GuardOptions): Promise<Partial<Fields>> {
  // Before the connection, of which no event may be missed.
  const { statusLegacy } = await loadLegacyLibrary()
  const { value, address, latency } = await guardTcp(connect(), maxAnswer, options, (port) =>
    statusLegacy('127.0.0.1', port, { enableSRV: false, timeout: libraryTimeout }),
  )
  const { version, players, motd } = value
  // The library splits any text that comes after FF: without the counts it was none.
  if (!isCount(players.online) || !isCount(players.max)) {
    throw new SourceError('malformed', `${options.target}: the answer is no legacy status`)
  }
  return {
    edition: 'java',
    ...(version?.name && parseVersionName(stripFormatting(version.name))),
    ...(isCount(version?.protocol) && { protocol: version.protocol }),
    motd: stripFormatting(motd.raw),
    ...(motd.raw.includes('§') && { formattedMotd: motd.raw }),
    playersOnline: players.online,
    playersMax: players.max,
    ...(players.online === 0 && { players: { players: [], complete: true } }),
    ...(address !== undefined && { ip: address }),
    latency: latency / 1_000,
  }
}
