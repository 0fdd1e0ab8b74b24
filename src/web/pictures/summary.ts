import type { SourceErrorCode } from '../../game/errors.ts'
import type { KnownField, ServerSnapshot } from '../../game/snapshot.ts'
import { downReason, stateOf } from '../../live/state.ts'

/** Why a server is down, in the words of a person who does not know the protocols. */
const reasons: Readonly<Partial<Record<SourceErrorCode, string>>> = {
  timeout: 'no reply in time',
  refused: 'connection refused',
  dns: 'host name not found',
  closed: 'connection closed',
  malformed: 'reply not understood',
  tls: 'certificate not trusted',
}

/** What pictures show of a server. */
export interface Summary {
  readonly server: string
  readonly up: boolean | null
  /** `Online`, `Offline: connection refused`, `Not known`. */
  readonly status: string
  /** `12/100`; null where unknown. */
  readonly players: string | null
  /** Ticks per second; null where unknown. */
  readonly tickRate: number | null
  readonly isPaused: boolean
  readonly isFrozen: boolean
  readonly version: string | null
  readonly software: string | null
  /** With formatting codes; null where unknown. */
  readonly motd: string | null
}

/** @param staleAfter milliseconds after which a server that was up counts as unknown */
export function summarise(snapshot: ServerSnapshot, staleAfter: number): Summary {
  const state = stateOf(snapshot, staleAfter)
  const { formattedMotd } = snapshot.fields as { readonly formattedMotd?: KnownField<string> }
  const { online, max, up } = state
  return {
    server: snapshot.server,
    up,
    status: up === null ? 'Not known' : up ? 'Online' : `Offline: ${reasons[downReason(snapshot)] ?? 'cannot be reached'}`,
    players: online === null ? null : max === null ? String(online) : `${online}/${max}`,
    tickRate: state.tickRate,
    isPaused: state.paused === true,
    isFrozen: state.frozen === true,
    version: state.version,
    software: state.software,
    motd: state.motd === null ? null : (formattedMotd?.value ?? state.motd),
  }
}

/** Ticks per second below which a server lags, and lags badly. */
const lag = { mild: 19, bad: 15 } as const

/** How the tick rate is to be judged; undefined where it is unknown or the server stands still on purpose. */
export function judgeTickRate({ tickRate, isPaused, isFrozen }: Summary): 'up' | 'warning' | 'down' | undefined {
  if (tickRate === null || isPaused || isFrozen) return undefined
  return tickRate >= lag.mild ? 'up' : tickRate >= lag.bad ? 'warning' : 'down'
}

/** `20.0 TPS`, `paused`; null where unknown. */
export function tickText({ tickRate, isPaused, isFrozen }: Summary): string | null {
  if (isFrozen) return 'frozen'
  if (isPaused) return 'paused'
  return tickRate === null ? null : tickRate.toFixed(1)
}
