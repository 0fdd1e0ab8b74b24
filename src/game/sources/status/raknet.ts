import { statusBedrock } from 'minecraft-server-util'
import type { Clock } from '../../../clock.ts'
import type { Fields, GameMode } from '../../fields.ts'
import { createAnyAddress } from '../../names/connect-any-address.ts'
import type { Network } from '../../network.ts'
import { formatHostPort, type HostPort } from '../../protocol/address.ts'
import { stripFormatting } from '../../protocol/text.ts'
import { type GuardOptions, guardUdp, libraryTimeout } from './loopback-relay.ts'

/** Packet id, time, GUID and magic come before the text's length and the text. */
const textAt = 35
const gameModes: readonly GameMode[] = ['SURVIVAL', 'CREATIVE', 'ADVENTURE', 'SPECTATOR']

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/** An unconnected pong with at least edition, two texts, version and both counts; what comes after may be left out. */
function isBedrockPong(datagram: Buffer): boolean {
  if (datagram[0] !== 0x1c || datagram.length < textAt || datagram.length > 8_192) return false
  const length = datagram.readUInt16BE(textAt - 2)
  return textAt + length === datagram.length && datagram.toString('utf8', textAt).split(';', 6).length === 6
}

/**
 * The status of a Bedrock server: the unconnected ping of RakNet over UDP
 * (https://minecraft.wiki/w/RakNet#Unconnected_Ping).
 * @throws SourceError from the function returned
 */
export function createBedrockReader(
  { host, port }: HostPort,
  clock: Clock,
  network: Network,
): (signal: AbortSignal) => Promise<Partial<Fields>> {
  const target = formatHostPort({ host, port })
  const anyAddress = createAnyAddress({ host, target, network, clock })
  return (signal) => anyAddress((address, own) => ask({ ...address, port }, { target, signal: own, now: clock.now }), signal)
}

async function ask(
  server: { readonly address: string; readonly family: number; readonly port: number },
  options: GuardOptions,
): Promise<Partial<Fields>> {
  const { value, address, latency } = await guardUdp(server, isBedrockPong, options, (relayPort) =>
    statusBedrock('127.0.0.1', relayPort, { enableSRV: false, timeout: libraryTimeout }),
  )
  const { version, players, motd, gameMode } = value
  const mode = gameModes.find((known) => known === String(gameMode).toUpperCase())
  return {
    edition: 'bedrock',
    ...(/^\d{1,3}(?:\.\d{1,4}){1,3}$/.test(version.name) && { version: version.name }),
    ...(isCount(version.protocol) && { protocol: version.protocol }),
    motd: stripFormatting(motd.raw),
    ...(isCount(players.online) && { playersOnline: players.online }),
    ...(isCount(players.max) && { playersMax: players.max }),
    ...(players.online === 0 && { players: { players: [], complete: true } }),
    ...(mode && { defaultGameMode: mode }),
    ...(address !== undefined && { ip: address }),
    port: server.port,
    latency: latency / 1_000,
  }
}
