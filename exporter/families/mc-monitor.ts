import { parseHostPort } from '../../src/game/protocol/address.ts'
import { addressOf, type ServerSettings } from '../../src/game/server.ts'
import type { ServerSnapshot, SourceState } from '../../src/game/snapshot.ts'
import type { UnlabelledFamilies } from '../fleet-text.ts'
import type { Family } from './family.ts'

const labels = ['server_host', 'server_port', 'server_edition', 'server_version']

const statusOf = ({ sources }: ServerSnapshot): SourceState | undefined => sources.find(({ source }) => source === 'status')

/**
 * The four gauges of mc-monitor (itzg/mc-monitor), as it gives them: of the status alone, whatever else is known of the server, and
 * with version "" where the status fails.
 */
export function mcMonitor(servers: readonly ServerSettings[]): UnlabelledFamilies {
  const editions = new Map(servers.map((server) => [server.name, addressOf(server)?.edition]))

  /** Host, port and edition that the status is asked at; that of a server known by its directory is found out on the way. */
  function statusAddress(snapshot: ServerSnapshot): readonly [string, string, string] | undefined {
    const address = parseHostPort(statusOf(snapshot)?.target ?? '', 0)
    return address && [address.host, String(address.port), editions.get(snapshot.server) ?? 'java']
  }

  const gauge = (
    name: string,
    help: string,
    value: (snapshot: ServerSnapshot, status: SourceState) => number | undefined,
  ): Family => ({
    name,
    type: 'gauge',
    help,
    labels,
    read(snapshot) {
      const [address, status] = [statusAddress(snapshot), statusOf(snapshot)]
      if (address === undefined || status === undefined || status.state === 'pending') return []
      const known = value(snapshot, status)
      if (known === undefined) return []
      const version = status.state === 'ok' ? (snapshot.fields.version?.value ?? '') : ''
      return [{ labels: [...address, version], value: known }]
    },
  })

  const ifOk = (name: string, help: string, value: (snapshot: ServerSnapshot, status: SourceState) => number | undefined) =>
    gauge(name, help, (snapshot, status) => (status.state === 'ok' ? value(snapshot, status) : undefined))

  return {
    identity: (snapshot) => statusAddress(snapshot)?.join(' ').toLowerCase(),
    families: [
      gauge('minecraft_status_healthy', '1 if the status answers, 0 if not; as mc-monitor names it.', (_, { state }) =>
        Number(state === 'ok'),
      ),
      ifOk(
        'minecraft_status_response_time_seconds',
        'Time that the status took, seconds; as mc-monitor names it.',
        (_, { duration }) => duration,
      ),
      ifOk(
        'minecraft_status_players_online_count',
        'Players online; as mc-monitor names it.',
        ({ fields }) => fields.playersOnline?.value,
      ),
      ifOk(
        'minecraft_status_players_max_count',
        'Players let in at most; as mc-monitor names it.',
        ({ fields }) => fields.playersMax?.value,
      ),
    ],
  }
}
