import type { LookupAddress } from 'node:dns'
import type { AbortSignalLike } from '../../../util/abortable.ts'
import { formatHostPort, type HostPort } from '../../../util/address.ts'
import { toSeconds } from '../../../util/clock.ts'
import { toSourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { createHappyEyeballs } from '../../names/happy-eyeballs.ts'
import type { Network } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import { decodeUnconnectedPong, encodeUnconnectedPing } from '../../protocol/status/unconnected-ping.ts'
import { type SourceContext, unmeasured } from '../source.ts'
import { exchange, withUdpSocket } from '../udp.ts'
import { toBedrockFields } from './bedrock-fields.ts'

/**
 * Reads the status of a Bedrock server by RakNet, with an unconnected ping over UDP.
 * @returns a function that throws SourceError
 */
export function createRakNetReader(
  { host, port }: HostPort,
  { clock, measure = unmeasured }: Pick<SourceContext, 'clock' | 'measure'>,
  network: Network,
  phases: PhaseTimer | undefined,
): (signal: AbortSignalLike) => Promise<Partial<Fields>> {
  const target = formatHostPort({ host, port })
  const raceAddresses = createHappyEyeballs({ host, target, network, clock, phases })

  async function ping(address: LookupAddress, signal: AbortSignalLike): Promise<Partial<Fields>> {
    const sent: number[] = []
    const datagram = await withUdpSocket(address, port, signal, (socket) =>
      exchange(socket, {
        encodeRequest: () => encodeUnconnectedPing(BigInt(sent.push(clock.now()))),
        // Any datagram is the reply, since a connected socket receives only those of the server.
        isReply: () => true,
        clock,
        signal,
      }),
    )
    const received = clock.now()
    const { time, fields } = measure(() => {
      const { time, status } = decodeUnconnectedPong(datagram)
      return { time, fields: toBedrockFields(status) }
    })
    phases?.end('first_byte')
    // If the ping was sent more than once, the pong contains the time of its ping.
    const sentAt = sent[Number(time) - 1] ?? sent.at(-1) ?? received
    return {
      ...fields,
      transport: 'raknet' as const,
      ip: address.address,
      port,
      latency: toSeconds(received - sentAt),
    }
  }

  return async (signal) => {
    phases?.start()
    try {
      return await raceAddresses(ping, signal)
    } catch (error) {
      throw toSourceError(error, target)
    }
  }
}
