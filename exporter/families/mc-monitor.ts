import type { Fleet } from '../../src/game/fleet.ts'
import { addressOf } from '../../src/game/server-settings.ts'
import type { ServerSnapshot, SourceState } from '../../src/game/snapshot.ts'
import { parseHostPort } from '../../src/util/address.ts'
import type { UnlabelledFamilies } from '../fleet-text.ts'
import type { Family } from './family.ts'

const labels = ['server_host', 'server_port', 'server_edition', 'server_version']

const statusOf = ({ sources }: ServerSnapshot): SourceState | undefined => sources.find(({ source }) => source === 'status')

/** What mc-monitor reads from a status reply. A missing player count is 0 for a Java server and -1 for a Bedrock server. */
interface Reply {
  readonly version: string
  readonly online: number
  readonly max: number
  /** A Java server that does not accept players yet is not ready. */
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
 * The four gauges of mc-monitor (https://github.com/itzg/mc-monitor, prom_collector.go) computed as it does: from the status
 * reply alone, with the version exactly as the server sends it, or "" if the status failed. It does not support servers up to
 * 1.6.
 */
export function mcMonitor({ settingsOf }: Pick<Fleet, 'settingsOf'>): UnlabelledFamilies {
  /**
   * Host, port and edition that the status is requested from; for a server configured by its directory they are known after the
   * first poll.
   */
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
    read(snapshot, add) {
      const [address, status] = [statusAddress(snapshot), statusOf(snapshot)]
      if (address === undefined || status === undefined || status.state === 'pending') return
      const reply = status.state === 'ok' ? replyOf(snapshot, address[2]) : undefined
      add(value(reply, status), ...address, reply?.version ?? '')
    },
  })

  return {
    identity: (snapshot) => statusAddress(snapshot)?.join(' ').toLowerCase(),
    families: [
      gauge(
        'minecraft_status_healthy',
        '1 if the status was read and, for a Java server, players can join; else 0. Same as in mc-monitor.',
        (reply) => Number(reply?.isReady === true),
      ),
      gauge(
        'minecraft_status_response_time_seconds',
        'Duration of the status request and its ping, in seconds. Same as in mc-monitor.',
        (reply, { duration }) => reply && duration,
      ),
      gauge('minecraft_status_players_online_count', 'Players online. Same as in mc-monitor.', (reply) =>
        reply?.isReady ? reply.online : undefined,
      ),
      gauge('minecraft_status_players_max_count', 'Maximum number of players. Same as in mc-monitor.', (reply) =>
        reply?.isReady ? reply.max : undefined,
      ),
    ],
  }
}
