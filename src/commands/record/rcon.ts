import type { Player } from '../../game/protocol/player.ts'
import {
  decodeChunk,
  encodeRconPacket,
  fullPiece,
  maxPacketLength,
  RconDecoder,
  type RconPacket,
  rconType,
} from '../../game/protocol/rcon/packets.ts'
import { parsePlayerList } from '../../game/protocol/rcon/player-list.ts'
import { isUnknownCommand, plainReply } from '../../game/protocol/rcon/reply.ts'
import type { Exchange, RawRecording } from './recording.ts'
import type { Tapped } from './tap.ts'

type RconExchange = ReturnType<typeof exchangesIn>[number]

function packetsIn(chunks: readonly Buffer[]): readonly RconPacket[] {
  const decoder = new RconDecoder()
  return chunks.flatMap((chunk) => [...decodeChunk(decoder, chunk)])
}

/** Each request with its replies: packets with the same id, or -1 for a refused login. */
function exchangesIn({ sent, received }: Tapped) {
  const replies = packetsIn(received)
  return packetsIn(sent).map((packet) => ({
    sent: packet,
    received: replies.filter(({ id }) => id === packet.id || (id === -1 && packet.type === rconType.login)),
  }))
}

const textOf = ({ received }: RconExchange): string => received.map(({ body }) => body).join('')
const isList = ({ sent }: RconExchange): boolean => /^(?:minecraft:)?list\b/.test(sent.body)
/** Whether a reply may contain player names that cannot be distinguished from other words, in any language. */
const isUnclear = (answer: RconExchange): boolean => {
  const text = plainReply(textOf(answer))
  const isRefused = text === '' || (isUnknownCommand(text) && !/online|players/i.test(text))
  return isList(answer) && !isRefused && parsePlayerList(text)?.players === undefined
}
/** The players in a reply, as they are sent and without colours. */
const playersIn = (answer: RconExchange): readonly Player[] =>
  [textOf(answer), plainReply(textOf(answer))].flatMap((text) => parsePlayerList(text)?.players ?? [])

const requestOf = ({ type, body }: RconPacket): string =>
  type === rconType.login ? 'login' : type === rconType.endMark ? 'end mark' : body

/** Splits a text as the game does; a text shorter than one piece may have been split for another reason. */
function inPieces(text: string, before: readonly RconPacket[]): readonly string[] {
  if (before.length < 2) return before.map(() => text)
  const pieces = Math.max(1, Math.ceil(text.length / fullPiece))
  return Array.from({ length: pieces }, (_, index) => text.slice(index * fullPiece, (index + 1) * fullPiece))
}

const encode = (packet: RconPacket): Buffer => encodeRconPacket(packet, maxPacketLength)

/**
 * Extracts RCON commands and replies from the bytes of connections. The password is replaced.
 * @throws ProtocolError
 */
export function readRconRecording(connections: readonly Tapped[]): RawRecording {
  const all = connections.flatMap(exchangesIn)
  const unclear = all.filter(isUnclear)
  const clear = all.filter((answer) => !unclear.includes(answer))
  return {
    protocol: 'rcon',
    players: all.filter(isList).flatMap(playersIn),
    anonymise(replace) {
      const exchanges = clear.map((answer): Exchange => {
        const { sent, received } = answer
        const [first = sent] = received
        const pieces = inPieces(replace(textOf(answer)), received)
        return {
          request: requestOf(sent),
          sent: encode(sent.type === rconType.login ? { ...sent, body: 'password' } : sent),
          received: pieces.map((body) => encode({ id: first.id, type: first.type, body })),
        }
      })
      const omitted = unclear.map(({ sent }) => `${sent.body}: names in the reply cannot be distinguished from other words`)
      return { protocol: 'rcon', exchanges, omitted: [...new Set(omitted)] }
    },
  }
}
