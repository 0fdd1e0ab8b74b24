import type { LookupAddress } from 'node:dns'
import { toSourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { createAddressRacer } from '../../names/address-racer.ts'
import type { Network } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import { formatHostPort, type HostPort } from '../../protocol/address.ts'
import { decodeUnconnectedPong, encodeUnconnectedPing } from '../../protocol/unconnected-ping.ts'
import type { SourceContext } from '../source.ts'
import { exchange, withUdpSocket } from '../udp.ts'
import { toBedrockFields } from './bedrock-fields.ts'

/**
 * The status of a Bedrock server that is reached by RakNet: its unconnected ping over UDP.
 * @throws SourceError from the function returned
 */
export function createRakNetReader(
  { host, port }: HostPort,
  { clock }: Pick<SourceContext, 'clock'>,
  network: Network,
  phases: PhaseTimer | undefined,
): (signal: AbortSignal) => Promise<Partial<Fields>> {
  const target = formatHostPort({ host, port })
  const raceAddresses = createAddressRacer({ host, target, network, clock, phases })

  async function ping(address: LookupAddress, signal: AbortSignal): Promise<Partial<Fields>> {
    const sent: number[] = []
    const datagram = await withUdpSocket(address, port, signal, (socket) =>
      exchange(socket, {
        encodeRequest: () => encodeUnconnectedPing(BigInt(sent.push(clock.now()))),
        // The first datagram counts, whatever it holds: nobody else can send one to this socket.
        isReply: () => true,
        clock,
        signal,
      }),
    )
    const received = clock.now()
    const { time, status } = decodeUnconnectedPong(datagram)
    phases?.end('first_byte')
    // Of a ping that was sent again the pong says which one it answers.
    const sentAt = sent[Number(time) - 1] ?? sent.at(-1) ?? received
    return {
      ...toBedrockFields(status),
      transport: 'raknet' as const,
      ip: address.address,
      port,
      latency: (received - sentAt) / 1_000,
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
