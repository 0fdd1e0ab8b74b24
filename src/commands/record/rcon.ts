import { parsePlayerList } from '../../game/protocol/player-list.ts'
import {
  createRconDecoder,
  encodeRconPacket,
  fullPiece,
  maxPacketLength,
  type RconPacket,
  rconType,
} from '../../game/protocol/rcon.ts'
import type { Exchange, RawRecording } from './recording.ts'
import type { Tapped } from './tap.ts'

interface Answered {
  readonly sent: RconPacket
  readonly received: readonly RconPacket[]
}

function packetsIn(chunks: readonly Buffer[]): readonly RconPacket[] {
  const decoder = createRconDecoder()
  return chunks.flatMap((chunk) => [...decoder.push(chunk)])
}

/** Each packet that was sent, with those that answer it: they have its id, or -1 for a refused login. */
function answersIn({ sent, received }: Tapped): readonly Answered[] {
  const replies = packetsIn(received)
  return packetsIn(sent).map((packet) => ({
    sent: packet,
    received: replies.filter(({ id }) => id === packet.id || (id === -1 && packet.type === rconType.login)),
  }))
}

const textOf = ({ received }: Answered): string => received.map(({ body }) => body).join('')
const isList = ({ sent }: Answered): boolean => /^(?:minecraft:)?list\b/.test(sent.body)
/** A reply that may hold names which cannot be told from other words. */
const isUnclear = (answer: Answered): boolean => {
  const list = parsePlayerList(textOf(answer))
  return isList(answer) && (list === undefined ? /online|players/i.test(textOf(answer)) : list.players === undefined)
}

const requestOf = ({ type, body }: RconPacket): string =>
  type === rconType.login ? 'login' : type === rconType.endMark ? 'end mark' : body

/** The game cuts what is longer than a piece; a shorter text may have been several packets for another reason. */
function inPieces(text: string, before: readonly RconPacket[]): readonly string[] {
  if (before.length < 2) return before.map(() => text)
  const pieces = Math.max(1, Math.ceil(text.length / fullPiece))
  return Array.from({ length: pieces }, (_, index) => text.slice(index * fullPiece, (index + 1) * fullPiece))
}

const encode = (packet: RconPacket): Buffer => encodeRconPacket(packet, maxPacketLength)

/**
 * The commands of RCON and their replies from the bytes of its connections. The password is replaced.
 * @throws ProtocolError
 */
export function readRconRecording(connections: readonly Tapped[]): RawRecording {
  const all = connections.flatMap(answersIn)
  const unclear = all.filter(isUnclear)
  const clear = all.filter((answer) => !unclear.includes(answer))
  return {
    protocol: 'rcon',
    players: all.filter(isList).flatMap((answer) => parsePlayerList(textOf(answer))?.players ?? []),
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
      const omitted = unclear.map(({ sent }) => `${sent.body}: the names in its reply cannot be told from other words`)
      return { protocol: 'rcon', exchanges, omitted: [...new Set(omitted)] }
    },
  }
}
