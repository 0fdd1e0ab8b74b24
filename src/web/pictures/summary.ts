import { currentFields } from '../../game/current-fields.ts'
import type { SourceErrorCode } from '../../game/errors.ts'
import type { ServerSnapshot } from '../../game/snapshot.ts'
import { stateNameOf } from '../../game/state-name.ts'
import { downReason, stateOf } from '../../live/state.ts'

/** Why a server is down, in plain words. */
const reasons: Readonly<Partial<Record<SourceErrorCode, string>>> = {
  timeout: 'no reply in time',
  refused: 'connection refused',
  dns: 'host name not found',
  closed: 'connection closed',
  malformed: 'reply not valid',
  tls: 'certificate not trusted',
}

/** The values of a server in pictures. */
export interface Summary {
  readonly server: string
  readonly up: boolean | null
  /** `Online`, `Hung: its main thread does not answer`, `Offline: connection refused`, `Asleep`, `Upgrading the world, 42 %`, `Unknown`. */
  readonly status: string
  /** The state in one word, for a badge. */
  readonly shortStatus: 'online' | 'hung' | 'offline' | 'asleep' | 'upgrading' | 'unknown'
  /** `12/100`; null if unknown. */
  readonly players: string | null
  /** Ticks per second; null if unknown. */
  readonly tickRate: number | null
  /** Ticks per second that the server aims at. */
  readonly tickRateTarget: number
  readonly isPaused: boolean
  readonly isFrozen: boolean
  readonly version: string | null
  readonly software: string | null
  /** With formatting codes; null if unknown. */
  readonly motd: string | null
}

export function summarise(snapshot: ServerSnapshot): Summary {
  const state = stateOf(snapshot)
  const { formattedMotd, tickRateTarget } = currentFields(snapshot)
  const { online, max, up } = state
  return {
    server: snapshot.server,
    up,
    ...describeStatus(snapshot),
    players: online === null ? null : max === null ? String(online) : `${online}/${max}`,
    tickRate: state.tickRate,
    tickRateTarget: tickRateTarget?.value || 20,
    isPaused: state.paused === true,
    isFrozen: state.frozen === true,
    version: state.version,
    software: state.software,
    motd: state.motd === null ? null : (formattedMotd?.value ?? state.motd),
  }
}

function describeStatus(snapshot: ServerSnapshot): Pick<Summary, 'status' | 'shortStatus'> {
  const { progress } = snapshot.fields.worldUpgrade?.value ?? {}
  switch (stateNameOf(snapshot)) {
    case 'up':
      return { status: 'Online', shortStatus: 'online' }
    case 'hung':
      return { status: 'Hung: its main thread does not answer', shortStatus: 'hung' }
    case 'asleep':
      return { status: 'Asleep', shortStatus: 'asleep' }
    case 'upgrading': {
      const percent = progress === undefined ? '' : `, ${Math.floor(progress * 100)} %`
      return { status: `Upgrading the world${percent}`, shortStatus: 'upgrading' }
    }
    case 'upgrade failed':
      return { status: 'Offline: the upgrade of the world has failed', shortStatus: 'offline' }
    case 'unknown':
      return { status: 'Unknown', shortStatus: 'unknown' }
    case 'down':
      return { status: `Offline: ${reasons[downReason(snapshot)] ?? 'cannot be reached'}`, shortStatus: 'offline' }
  }
}

/** Parts of the target tick rate below which a server lags or lags badly. */
const lag = { mild: 0.95, bad: 0.75 } as const

/** The rating of the tick rate; undefined if it is unknown or ticking is stopped on purpose. */
export function judgeTickRate({ tickRate, tickRateTarget, isPaused, isFrozen }: Summary): 'up' | 'warning' | 'down' | undefined {
  if (tickRate === null || isPaused || isFrozen) return undefined
  const part = tickRate / tickRateTarget
  return part >= lag.mild ? 'up' : part >= lag.bad ? 'warning' : 'down'
}

/** `20.0 TPS`, `paused`; null if unknown. */
export function tickText({ tickRate, isPaused, isFrozen }: Summary): string | null {
  if (isFrozen) return 'frozen'
  if (isPaused) return 'paused'
  return tickRate === null ? null : tickRate.toFixed(1)
}
