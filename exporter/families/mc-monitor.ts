import type { Fleet } from '../../src/game/fleet.ts'
import { parseHostPort } from '../../src/game/protocol/address.ts'
import { addressOf } from '../../src/game/server.ts'
import type { ServerSnapshot, SourceState } from '../../src/game/snapshot.ts'
import type { UnlabelledFamilies } from '../fleet-text.ts'
import type { Family } from './family.ts'

const labels = ['server_host', 'server_port', 'server_edition', 'server_version']

const statusOf = ({ sources }: ServerSnapshot): SourceState | undefined => sources.find(({ source }) => source === 'status')

/** What mc-monitor reads from a status reply. It takes a count that a Java server leaves out for 0, of a Bedrock server for -1. */
interface Reply {
  readonly version: string
  readonly online: number
  readonly max: number
  /** A Java server that does not let anyone in yet is not ready. */
  readonly isReady: boolean
}

function replyOf({ fields }: ServerSnapshot, edition: string): Reply | undefined {
  const raw = fields.rawStatus?.value
  if (raw === undefined) return undefined
  const isBedrock = edition === 'bedrock'
  const missing = isBedrock ? -1 : 0
  const { version, playersOnline: online = missing, playersMax: max = missing } = raw
  return { version, online, max, isReady: isBedrock || max !== 0 }
}

/**
 * The four gauges of mc-monitor (https://github.com/itzg/mc-monitor, prom_collector.go) as it computes them: from the status alone,
 * whatever else is known of the server, with the version as the server writes it, and "" where the status fails. It does not read
 * servers up to 1.6.
 */
export function mcMonitor({ settingsOf }: Pick<Fleet, 'settingsOf'>): UnlabelledFamilies {
  /** Host, port and edition that the status is asked at; that of a server known by its directory is found out on the way. */
  function statusAddress(snapshot: ServerSnapshot): readonly [string, string, string] | undefined {
    const address = parseHostPort(statusOf(snapshot)?.target ?? '', 0)
    if (address === undefined) return undefined
    const settings = settingsOf(snapshot.server)
    return [address.host, String(address.port), (settings && addressOf(settings)?.edition) ?? 'java']
  }

  const gauge = (
    name: string,
    help: string,
    value: (reply: Reply | undefined, status: SourceState) => number | undefined,
  ): Family => ({
    name,
    type: 'gauge',
    help,
    labels,
    read(snapshot) {
      const [address, status] = [statusAddress(snapshot), statusOf(snapshot)]
      if (address === undefined || status === undefined || status.state === 'pending') return []
      const reply = status.state === 'ok' ? replyOf(snapshot, address[2]) : undefined
      const known = value(reply, status)
      return known === undefined ? [] : [{ labels: [...address, reply?.version ?? ''], value: known }]
    },
  })

  return {
    identity: (snapshot) => statusAddress(snapshot)?.join(' ').toLowerCase(),
    families: [
      gauge(
        'minecraft_status_healthy',
        '1 if the status is read and a Java server lets players in, 0 if not; as mc-monitor names it.',
        (reply) => Number(reply?.isReady === true),
      ),
      gauge(
        'minecraft_status_response_time_seconds',
        'Time that the status took with its ping, seconds; as mc-monitor names it.',
        (reply, { duration }) => reply && duration,
      ),
      gauge('minecraft_status_players_online_count', 'Players online; as mc-monitor names it.', (reply) =>
        reply?.isReady ? reply.online : undefined,
      ),
      gauge('minecraft_status_players_max_count', 'Players that the server lets in; as mc-monitor names it.', (reply) =>
        reply?.isReady ? reply.max : undefined,
      ),
    ],
  }
}
