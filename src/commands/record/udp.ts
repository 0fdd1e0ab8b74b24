import { randomInt } from 'node:crypto'
import type { Socket } from 'node:dgram'
import { toSourceError } from '../../game/errors.ts'
import { addressesOf, systemNetwork } from '../../game/network.ts'
import {
  decodeChallenge,
  decodeFullStat,
  encodeChallenge,
  encodeFullStat,
  isReply,
  toSession,
} from '../../game/protocol/query.ts'
import { encodeUnconnectedPing } from '../../game/protocol/status/unconnected-ping.ts'
import { exchange, withUdpSocket } from '../../game/sources/udp.ts'
import { formatHostPort, type HostPort } from '../../util/address.ts'
import { systemClock } from '../../util/clock.ts'
import type { Exchange, RawRecording } from './recording.ts'

/** Length of type and session. */
const headBytes = 5

const isUtf8 = (bytes: Buffer): boolean => Buffer.from(bytes.toString('utf8')).equals(bytes)

/** Applies `replace` to each NUL-separated text, in its own encoding. */
function replaceBetweenNuls(bytes: Buffer, replace: (text: string) => string): Buffer {
  const texts = bytes.toString('latin1').split('\0')
  const replaced = texts.map((text) => {
    const own = Buffer.from(text, 'latin1')
    const encoding = isUtf8(own) ? 'utf8' : 'latin1'
    return Buffer.from(replace(own.toString(encoding)), encoding).toString('latin1')
  })
  return Buffer.from(replaced.join('\0'), 'latin1')
}

/** Runs `work` with a socket that is connected to a server. @throws SourceError */
async function withServer(server: HostPort, signal: AbortSignal, work: (socket: Socket) => Promise<RawRecording>) {
  const { host, port } = server
  try {
    const [address = { address: host, family: 4 }] = await addressesOf(host, systemNetwork, signal)
    return await withUdpSocket(address, port, signal, work)
  } catch (error) {
    throw toSourceError(error, formatHostPort(server))
  }
}

/** Sends a challenge and a full stat request. @throws SourceError */
export function recordQuery(server: HostPort, signal: AbortSignal): Promise<RawRecording> {
  const session = toSession(randomInt(2 ** 31))
  const sentChallenge = encodeChallenge(session)
  return withServer(server, signal, async (socket) => {
    const send = (bytes: Buffer, type: 0 | 9) =>
      exchange(socket, {
        encodeRequest: () => bytes,
        isReply: (datagram) => isReply(datagram, type, session),
        clock: systemClock,
        signal,
      })
    const challenge = await send(sentChallenge, 9)
    const sentStat = encodeFullStat(session, decodeChallenge(challenge))
    const stat = await send(sentStat, 0)
    return {
      protocol: 'query',
      players: decodeFullStat(stat).names.map((name) => ({ name })),
      anonymise(replace) {
        const body = replaceBetweenNuls(stat.subarray(headBytes), replace)
        const exchanges: Exchange[] = [
          { request: 'challenge', sent: sentChallenge, received: [challenge] },
          { request: 'full stat', sent: sentStat, received: [Buffer.concat([stat.subarray(0, headBytes), body])] },
        ]
        return { protocol: 'query', exchanges }
      },
    }
  })
}

/** Offsets in a pong. */
const pong = { guid: 9, magic: 17, length: 33, text: 35 } as const
const serverId = 6

/** Records the status of a Bedrock server by RakNet. Its identifier is replaced too. @throws SourceError */
export function recordRakNet(server: HostPort, signal: AbortSignal): Promise<RawRecording> {
  const sent = encodeUnconnectedPing(1n)
  return withServer(server, signal, async (socket) => {
    const received = await exchange(socket, { encodeRequest: () => sent, isReply: () => true, clock: systemClock, signal })
    return {
      protocol: 'status',
      players: [],
      anonymise(replace) {
        const fields = received.toString('utf8', pong.text).split(';')
        const shown = fields.map((field, index) => (index === serverId && /^-?\d+$/.test(field) ? '1' : replace(field)))
        const text = Buffer.from(shown.join(';'))
        const length = Buffer.from([text.length >> 8, text.length & 0xff])
        const head = [received.subarray(0, pong.guid), Buffer.alloc(8), received.subarray(pong.magic, pong.length)]
        const exchanges = [{ request: 'unconnected ping', sent, received: [Buffer.concat([...head, length, text])] }]
        return { protocol: 'status', exchanges }
      },
    }
  })
}
