import type { Player } from '../../game/protocol/player.ts'
import { encodeFrame, encodeString, type Frame, FrameReader } from '../../game/protocol/status/frames.ts'
import {
  decodeStatus,
  encodeHandshake,
  isLegacyReply,
  maxStatusFrame,
  packetIds,
  statusRequest,
} from '../../game/protocol/status/status.ts'
import { normaliseUuid } from '../../game/protocol/uuid.ts'
import { defaultPorts } from '../../util/address.ts'
import { isRecord } from '../../util/is-record.ts'
import { parseJson } from '../../util/json.ts'
import { replaceInJson } from './anonymiser.ts'
import type { Exchange, RawRecording } from './recording.ts'
import type { Tapped } from './tap.ts'

/** FE 01, without the address that newer clients add to it. */
const legacyRequest = Buffer.from([0xfe, 0x01])
const hello = Buffer.concat([
  encodeHandshake({ protocol: -1, host: 'mc.example.org', port: defaultPorts.java, next: 1 }),
  statusRequest,
])

function framesIn(bytes: Buffer): readonly Frame[] {
  const frames: Frame[] = []
  const reader = new FrameReader(maxStatusFrame)
  reader.push(bytes)
  for (let frame = reader.next(); frame !== undefined; frame = reader.next()) frames.push(frame)
  return frames
}

/** The players in the sample of a status reply. */
function playersIn(json: string): readonly Player[] {
  const status: unknown = parseJson(json)
  const players = isRecord(status) ? status.players : undefined
  const sample = isRecord(players) && Array.isArray(players.sample) ? players.sample : []
  return sample.filter(isRecord).map(({ name, id: given }) => {
    const id = normaliseUuid(given)
    return { name: typeof name === 'string' ? name : '', ...(id !== undefined && { id }) }
  })
}

/** FF, the length in UTF-16 units, the text. */
function encodeKick(text: string): Buffer {
  const head = Buffer.from([0xff, text.length >> 8, text.length & 0xff])
  return Buffer.concat([head, Buffer.from(text, 'utf16le').swap16()])
}

const decodeKick = (bytes: Buffer): string => {
  const end = 3 + 2 * bytes.readUInt16BE(1)
  const text = Buffer.from(bytes.subarray(3, end))
  // The connection may have ended within a letter.
  return text
    .subarray(0, text.length & ~1)
    .swap16()
    .toString('utf16le')
}

/**
 * Extracts the status of a Java server from the bytes of its connections. The request is rewritten, because it contains the address.
 * @throws ProtocolError, SyntaxError
 */
export function readStatusRecording(connections: readonly Tapped[]): RawRecording {
  const replies = connections.map(({ received }) => Buffer.concat(received)).filter(({ length }) => length > 0)
  // The connection may have ended within the length of the text.
  const kicks = replies.filter((reply) => isLegacyReply(reply) && reply.length > 2).map(decodeKick)
  const frames = replies.filter((reply) => !isLegacyReply(reply)).flatMap(framesIn)
  const statuses = frames.filter(({ id }) => id === packetIds.status).map(decodeStatus)
  const pongs = frames.filter(({ id }) => id === packetIds.ping).map(({ body }) => encodeFrame(packetIds.ping, body))
  return {
    protocol: 'status',
    players: statuses.flatMap(playersIn),
    anonymise(replace) {
      const exchanges: Exchange[] = [
        ...statuses.map((json) => {
          const reply = encodeFrame(packetIds.status, encodeString(replaceInJson(json, replace)))
          return { request: 'status', sent: hello, received: [reply] }
        }),
        // A pong has the same bytes as the ping.
        ...pongs.map((pong) => ({ request: 'ping', sent: pong, received: [pong] })),
        ...kicks.map((text) => {
          const fields = text.split('\0').map(replace)
          return { request: 'legacy', sent: legacyRequest, received: [encodeKick(fields.join('\0'))] }
        }),
      ]
      return { protocol: 'status', exchanges }
    },
  }
}
