import type { LiveState } from '../live/state.ts'
import type { NotifySettings } from './settings.ts'

/** What a poll, or an event since then, has shown of a server, or of a list of servers. */
export interface Observation {
  /** Under which it is stored what has been told: the name of the server. */
  readonly key: string
  /** Null for a list of servers. */
  readonly server: string | null
  readonly group: string | null
  /** Unix milliseconds. */
  readonly at: number
  /** The same in monotonic milliseconds: the wall clock may be set while a change is pending. */
  readonly now: number
  /** Whether a poll has ended since the last observation. */
  readonly isPoll: boolean
  readonly state: LiveState
  /** Why it is down, if it is. */
  readonly error: string | null
  /** Tick rate relative to the target; undefined if unknown or if the server does not tick on purpose. */
  readonly tickRatio: number | undefined
  /** Why a source fails; null if none does. */
  readonly trouble: string | null
  /** Returns the record number of players before; undefined if none is known, null while it is being read. */
  readonly record: () => number | null | undefined
}

export const problems = ['down', 'hung', 'lagging', 'full', 'empty', 'trouble'] as const
export type Problem = (typeof problems)[number]
/** Those whose end is told by `up`. */
export const endInUp: readonly Problem[] = ['down', 'hung']

/** Whether a server has a problem; undefined if unknown. Nothing is told of what is unknown. */
export function hasProblem(
  problem: Problem,
  { state, tickRatio, trouble }: Observation,
  { laggingBelow }: Pick<NotifySettings, 'laggingBelow'>,
): boolean | undefined {
  const { up, responsive, online, max } = state
  if (problem === 'down') return up === null ? undefined : !up
  if (up !== true) return undefined
  switch (problem) {
    case 'hung':
      return responsive === null ? undefined : !responsive
    case 'lagging':
      return tickRatio === undefined || responsive === false ? undefined : tickRatio < laggingBelow
    case 'full':
      return online === null || max === null || max === 0 ? undefined : online >= max
    case 'empty':
      return online === null ? undefined : online === 0
    default:
      return trouble !== null
  }
}
