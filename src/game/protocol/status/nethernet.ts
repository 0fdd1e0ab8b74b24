import { isRecord } from '../../../util/is-record.ts'
import { parseJsonIfValid } from '../../../util/json.ts'
import { toCount } from '../to-count.ts'
import type { BedrockStatus } from './unconnected-ping.ts'

// NetherNet, which Bedrock servers use instead of RakNet since 1.26.51: a client requests over HTTP to join.

/** The path of a join request. Any reply with a status from 200 to 299 means that the server is up. */
export const joinPath = '/v1/join'

/** Game modes by number. 5 is the default of the server, which is not specified. */
const gameModes: ReadonlyMap<unknown, string> = new Map([
  [0, 'survival'],
  [1, 'creative'],
  [2, 'adventure'],
  [6, 'spectator'],
])

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, 1_000) : undefined

/**
 * Decodes the body of a join reply. Some servers send an empty body or a word such as `OK`: then all fields are absent, as for JSON
 * that is not an object.
 */
export function decodeJoinReply(body: string): BedrockStatus {
  const value = parseJsonIfValid(body)
  if (!isRecord(value)) return {}
  const { name, level, version, protocol, players, maxPlayers, gameType } = value
  const lines = [textOf(name), textOf(level)].filter((line) => line !== undefined)
  const protocolNumber = toCount(typeof protocol === 'string' && /^\d{1,10}$/.test(protocol) ? Number(protocol) : protocol)
  const playersOnline = toCount(players)
  const playersMax = toCount(maxPlayers)
  const versionName = textOf(version)
  const gameMode = gameModes.get(gameType)
  return {
    ...(lines.length > 0 && { motd: lines.join('\n') }),
    ...(protocolNumber !== undefined && { protocol: protocolNumber }),
    ...(versionName !== undefined && { version: versionName }),
    ...(playersOnline !== undefined && { playersOnline }),
    ...(playersMax !== undefined && { playersMax }),
    ...(gameMode !== undefined && { gameMode }),
  }
}
