import type { SourceErrorCode } from '../game/errors.ts'
import { currentFields, downError, type ServerSnapshot } from '../game/snapshot.ts'
import { toPlayers } from '../http/players.ts'
import type { Clock } from '../util/clock.ts'
import type { MaintenanceState } from '../util/part-metrics.ts'

/** Milliseconds with at most 7 significant digits. */
const milliseconds = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : Number((seconds * 1000).toPrecision(7))

/** A number with at most 7 significant digits. */
const rounded = (value: number | undefined): number | null => (value === undefined ? null : Number(value.toPrecision(7)))

/**
 * The state of a server as sent in events; null where unknown. All other values are null while the server is not up. `latency`,
 * `tickTimeMean` and `tickTimeP99` are milliseconds, `tickRate` is per second. `responsive` is false for a hung server: it is up,
 * but its main thread does not answer.
 * @param maintenance that it is in
 */
export function stateOf(snapshot: ServerSnapshot, maintenance: MaintenanceState | null = null) {
  const fields = currentFields(snapshot)
  const players = fields.players?.value
  return {
    up: snapshot.up ?? null,
    online: fields.playersOnline?.value ?? null,
    max: fields.playersMax?.value ?? null,
    players: players?.complete ? toPlayers(players.players) : null,
    version: fields.version?.value ?? null,
    software: fields.software?.value ?? null,
    motd: fields.motd?.value ?? null,
    tickRate: rounded(fields.tickRate?.value),
    tickTimeMean: milliseconds(fields.tickDurationMean?.value),
    tickTimeP99: milliseconds(fields.tickDurationP99?.value),
    paused: fields.tickPaused?.value ?? null,
    frozen: fields.tickFrozen?.value ?? null,
    responsive: (snapshot.up === true ? snapshot.mainThread?.responsive : undefined) ?? null,
    latency: milliseconds(fields.latency?.value),
    maintenance,
  }
}

/** That of a server of which nothing is known. */
export const unknownState = stateOf({ server: '', at: 0, fields: {}, sources: [], polls: {} })

export type LiveState = ReturnType<typeof stateOf>
/** What events have of a state. */
export type SentState = Omit<LiveState, 'players'> & Partial<Pick<LiveState, 'players'>>

/** Converts a snapshot into the state sent in events, possibly with more members or without some values. */
export type ToState = (snapshot: ServerSnapshot) => LiveState

/** Unix milliseconds at which the snapshot was made. */
export const wallOf = ({ at }: ServerSnapshot, clock: Clock): number => Math.round(clock.wall() - (clock.now() - at))

/** Why a server that is down could not be reached. */
export const downReason = (snapshot: ServerSnapshot): SourceErrorCode => downError(snapshot) ?? 'unreachable'

/** The members of `next` that differ from `before`; undefined if there are none. */
export function difference(before: SentState, next: SentState): Partial<LiveState> | undefined {
  const changed: Record<string, unknown> = {}
  let hasChanged = false
  // Object.entries() and fromEntries() take three times as long.
  for (const name in next) {
    const value = next[name as keyof LiveState]
    if (isSame(value, before[name as keyof LiveState])) continue
    changed[name] = value
    hasChanged = true
  }
  return hasChanged ? (changed as Partial<LiveState>) : undefined
}

const isSame = (a: SentState[keyof LiveState], b: SentState[keyof LiveState]): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))
