import type { SourceErrorCode } from '../../game/errors.ts'
import { currentFields, type ServerSnapshot } from '../../game/snapshot.ts'
import { type StateName, stateNameOf } from '../../game/state-name.ts'
import { downReason, stateOf } from '../../live/state.ts'
import type { MaintenanceState } from '../../util/part-metrics.ts'

/** Why a server is down, in plain words. */
const reasons: Readonly<Partial<Record<SourceErrorCode, string>>> = {
  timeout: 'no reply in time',
  refused: 'connection refused',
  dns: 'host name not found',
  closed: 'connection closed',
  malformed: 'reply not valid',
  tls: 'certificate not trusted',
}

/** Each state in words, and in one word for a badge. */
const statusTexts = {
  up: ['Online', 'online'],
  hung: ['Hung: its main thread does not answer', 'hung'],
  down: ['Offline', 'offline'],
  asleep: ['Asleep', 'asleep'],
  upgrading: ['Upgrading the world', 'upgrading'],
  'upgrade failed': ['Offline: the upgrade of the world has failed', 'offline'],
  unknown: ['Unknown', 'unknown'],
  maintenance: ['Maintenance', 'maintenance'],
} as const satisfies Record<ShownState, readonly [string, string]>

type ShownState = StateName | 'maintenance'

/** As on the page, an upgrade of the world is shown rather than the maintenance that it is part of. */
function shownStateOf(snapshot: ServerSnapshot, maintenance: MaintenanceState | null): ShownState {
  const name = stateNameOf(snapshot)
  return maintenance === null || name === 'upgrading' || name === 'upgrade failed' ? name : 'maintenance'
}

/** The values of a server in pictures; null where unknown. @param maintenance default: the server is in none */
export function summarise(snapshot: ServerSnapshot, maintenance: MaintenanceState | null = null) {
  const state = stateOf(snapshot)
  const { formattedMotd, tickRateTarget } = currentFields(snapshot)
  const { online, max } = state
  const name = shownStateOf(snapshot, maintenance)
  const [status, shortStatus] = statusTexts[name]
  return {
    server: snapshot.server,
    up: state.up,
    /** `Online`, `Offline: connection refused`, `Maintenance: nightly backup`, `Upgrading the world, 42 %`. */
    status: status + detailOf(name, snapshot, maintenance),
    shortStatus,
    /** `12/100`. */
    players: online === null ? null : max === null ? String(online) : `${online}/${max}`,
    /** Ticks per second. */
    tickRate: state.tickRate,
    tickRateTarget: tickRateTarget?.value || 20,
    isPaused: state.paused === true,
    isFrozen: state.frozen === true,
    version: state.version,
    software: state.software,
    motd: state.motd,
    formattedMotd: formattedMotd?.value ?? null,
  }
}

export type Summary = ReturnType<typeof summarise>

/** Why a server is down or in maintenance, and how far its upgrade is. */
function detailOf(state: ShownState, snapshot: ServerSnapshot, maintenance: MaintenanceState | null): string {
  if (state === 'maintenance') return maintenance?.reason ? `: ${maintenance.reason}` : ''
  if (state === 'down') return `: ${reasons[downReason(snapshot)] ?? 'cannot be reached'}`
  const { progress } = snapshot.fields.worldUpgrade?.value ?? {}
  return state === 'upgrading' && progress !== undefined ? `, ${Math.floor(progress * 100)} %` : ''
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
