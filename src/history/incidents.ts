import { formatDuration } from '../util/format-duration.ts'

/** `down`: does not answer; `hung`: accepts connections, but its main thread does not answer; `lag`: below its tick rate for a minute. */
export const incidentKinds = ['down', 'hung', 'lag'] as const
export type IncidentKind = (typeof incidentKinds)[number]

/** What is recorded of an incident. All times are Unix milliseconds. */
export interface IncidentRecord {
  readonly kind: IncidentKind
  readonly from: number
  /** When the server was first known to be in another state; null before that. */
  readonly to: number | null
  /** Up to when it is known to have gone on. */
  readonly knownAt: number
  /** For how long the state of the server was unknown since it began, milliseconds. */
  readonly unknownMs: number
  /** Of `down`: the code of the error; of `lag`: the lowest number of ticks per second. */
  readonly detail: string | null
}

/** What an admin wrote about an incident. */
export interface IncidentNote {
  /** Unix milliseconds. */
  readonly at: number
  readonly text: string
}

/** An incident of a server. */
export interface Incident extends IncidentRecord {
  /** The same for as long as it is kept. */
  readonly id: string
  readonly server: string
  readonly notes: readonly IncidentNote[]
}

export interface IncidentQuery {
  /** Default: all. */
  readonly servers?: readonly string[]
  /** Unix milliseconds: those that ended before are left out. */
  readonly since: number
  /** How many of the newest. */
  readonly limit: number
}

/** An incident that has not ended is known to go on if that was known so many milliseconds ago. The clock may have been set back since. */
const recentMs = 5_000

/** Whether it goes on; null if that is not known. @param now Unix milliseconds */
export const isOngoing = ({ to, knownAt }: IncidentRecord, now: number): boolean | null =>
  to !== null ? false : Math.abs(now - knownAt) < recentMs ? true : null

/** `survival was down for 5 min (refused)`. An incident whose end is not known is told as it began. */
export function describeIncident({ server, kind, from, to, detail }: Incident): string {
  const what = { down: 'down', hung: 'hung', lag: 'lagging' }[kind]
  const why = detail === null ? '' : kind === 'lag' ? ` (at the lowest ${detail} ticks per second)` : ` (${detail})`
  return to === null ? `${server} is ${what}${why}` : `${server} was ${what} for ${formatDuration((to - from) / 1_000)}${why}`
}

/** Maximum length of a note, characters. */
export const maxNote = 500
/** Maximum number of notes about an incident. */
export const maxNotes = 20

/** The number of the server in the database, and the start in Unix milliseconds. */
export interface IncidentKey {
  readonly server: number
  readonly from: number
}

/** The text of a key. */
export const incidentId = (server: number, from: number): string => `${server}-${from}`

/** @returns undefined if the text is no ID */
export function parseIncidentId(id: string): IncidentKey | undefined {
  const [, server, from] = /^(\d{1,9})-(\d{1,15})$/.exec(id) ?? []
  return server === undefined ? undefined : { server: Number(server), from: Number(from) }
}
