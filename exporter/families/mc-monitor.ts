import type { ServerSettings } from '../../src/game/server.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import type { Family, Sample } from './family.ts'

const labels = ['server_host', 'server_port', 'server_edition', 'server_version']

/** The four gauges of mc-monitor (itzg/mc-monitor), as it gives them: a server that does not answer has version "". */
export function mcMonitor(servers: readonly ServerSettings[]): readonly Family[] {
  const addresses = new Map(servers.map(({ name, address }) => [name, address]))

  function sample({ server, up, fields }: ServerSnapshot, value: number | undefined): readonly Sample[] {
    const address = addresses.get(server)
    if (address === undefined || value === undefined || up === undefined) return []
    const version = up ? (fields.version?.value ?? '') : ''
    return [{ labels: [address.host, String(address.port), address.edition, version], value }]
  }

  const gauge = (name: string, help: string, value: (snapshot: ServerSnapshot) => number | undefined): Family => ({
    name,
    type: 'gauge',
    help,
    labels,
    read: (snapshot) => sample(snapshot, value(snapshot)),
  })
  return [
    gauge('minecraft_status_healthy', '1 if the server answers, 0 if not; as mc-monitor names it.', ({ up }) => Number(up)),
    gauge(
      'minecraft_status_response_time_seconds',
      'Time that the status took, seconds; as mc-monitor names it.',
      ({ up, sources }) => (up ? sources.find(({ source }) => source === 'status')?.duration : undefined),
    ),
    gauge('minecraft_status_players_online_count', 'Players online; as mc-monitor names it.', ({ up, fields }) =>
      up ? fields.playersOnline?.value : undefined,
    ),
    gauge('minecraft_status_players_max_count', 'Players let in at most; as mc-monitor names it.', ({ up, fields }) =>
      up ? fields.playersMax?.value : undefined,
    ),
  ]
}
