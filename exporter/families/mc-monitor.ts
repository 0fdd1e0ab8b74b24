import type { Fleet } from '../../src/game/fleet.ts'
import { addressOf } from '../../src/game/server-settings.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { parseHostPort } from '../../src/util/address.ts'
import type { UnlabelledFamilies } from '../fleet-text.ts'
import type { Family } from './family.ts'

const labels = ['server_host', 'server_port', 'server_edition', 'server_version']

/**
 * The four gauges of mc-monitor (https://github.com/itzg/mc-monitor, prom_collector.go) computed as it does: from the status
 * reply alone, with the version exactly as the server sends it, or "" if the status failed. It does not support servers up to
 * 1.6.
 */
export function mcMonitor({ settingsOf }: Pick<Fleet, 'settingsOf'>): UnlabelledFamilies {
  /** What mc-monitor says of a server; undefined until the address of its status is known, and without a status. */
  function readingOf({ server, sources, fields }: ServerSnapshot) {
    const status = sources.find(({ source }) => source === 'status')
    const address = parseHostPort(status?.target ?? '', 0)
    if (status === undefined || address === undefined) return undefined
    const settings = settingsOf(server)
    const edition = (settings && addressOf(settings)?.edition) ?? 'java'
    const reply = status.state === 'ok' ? fields.rawStatus?.value : undefined
    // A missing count is -1 for a Bedrock server, and 0 for a Java server, which does not accept players yet with a maximum of 0.
    const missing = edition === 'bedrock' ? -1 : 0
    const { playersOnline: online = missing, playersMax: max = missing } = reply ?? {}
    const isReady = reply !== undefined && (edition === 'bedrock' || max !== 0)
    return {
      place: [address.host, String(address.port), edition],
      version: reply?.version ?? '',
      isReady: status.state === 'pending' ? undefined : isReady,
      duration: reply && status.duration,
      counts: isReady ? { online, max } : undefined,
    }
  }
  type Reading = Exclude<ReturnType<typeof readingOf>, undefined>

  const gauge = (name: string, help: string, value: (reading: Reading) => number | boolean | undefined): Family => ({
    ...{ name, type: 'gauge', help, labels },
    read(snapshot, add) {
      const reading = readingOf(snapshot)
      if (reading !== undefined) add(value(reading), ...reading.place, reading.version)
    },
  })

  return {
    identity: (snapshot) => readingOf(snapshot)?.place.join(' ').toLowerCase(),
    families: [
      gauge(
        'minecraft_status_healthy',
        '1 if the status was read and, for a Java server, players can join; else 0. Same as in mc-monitor.',
        ({ isReady }) => isReady,
      ),
      gauge(
        'minecraft_status_response_time_seconds',
        'Duration of the status request and its ping, in seconds. Same as in mc-monitor.',
        ({ duration }) => duration,
      ),
      gauge('minecraft_status_players_online_count', 'Players online. Same as in mc-monitor.', ({ counts }) => counts?.online),
      gauge(
        'minecraft_status_players_max_count',
        'Maximum number of players. Same as in mc-monitor.',
        ({ counts }) => counts?.max,
      ),
    ],
  }
}
