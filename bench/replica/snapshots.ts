import type { ServerSettings } from '../../src/game/server-settings.ts'
import type { KnownField, ServerSnapshot } from '../../src/game/snapshot.ts'
import { formatHostPort } from '../../src/util/address.ts'
import { sharedClock as clock } from '../../src/util/clock.ts'
import { iconOf } from '../fleet/icons.ts'

/** The player count changes once per this many polls, like that of the simulated servers. */
const changeEvery = 10

const change = <T>(field: KnownField<T>, value: T): KnownField<T> => ({ ...field, value })

/**
 * Creates the snapshots of other servers from one that was polled: the times differ with each poll, the player count with some.
 * @param icons distinct icons
 */
export function createSnapshots({ fields, sources, at, knownUntil, ...others }: ServerSnapshot, icons: number) {
  const { motd, favicon, ip, latency, playersOnline, rawStatus } = fields
  /** @param round number of earlier snapshots of the server */
  return ({ name, sources: settings }: ServerSettings, index: number, round: number): ServerSnapshot => {
    const now = clock.now()
    const wall = Math.round(now)
    const duration = (1 + 10 * Math.random()) / 1_000
    const players = 100 + ((index + Math.floor((index + round) / changeEvery)) % 900)
    const address = settings.status?.address
    const host = address && 'host' in address ? address : undefined
    return {
      ...others,
      server: name,
      at: now,
      ...(knownUntil !== undefined && { knownUntil: now + knownUntil - at }),
      sources: sources.map((source) => ({
        ...source,
        ...(host && { target: formatHostPort(host) }),
        duration,
        lastSuccess: wall,
      })),
      polls: { ok: round + 1 },
      lastContact: { at: now, wall },
      lastPollAt: wall,
      pollDuration: duration,
      fields: {
        ...fields,
        ...(motd && { motd: change(motd, `Game server ${index} of many`) }),
        ...(favicon && { favicon: change(favicon, iconOf(index, icons)) }),
        ...(ip && host && { ip: change(ip, host.host) }),
        ...(latency && { latency: change(latency, duration) }),
        ...(playersOnline && { playersOnline: change(playersOnline, players) }),
        ...(rawStatus && { rawStatus: change(rawStatus, { ...rawStatus.value, playersOnline: players }) }),
      },
    }
  }
}
