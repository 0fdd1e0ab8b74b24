import type { Incident } from '../../history/incidents.ts'
import type { Regular } from '../../history/store/session-table.ts'
import type { ServerOverview } from '../../history/values/overview.ts'
import type { LiveState } from '../../live/state.ts'
import type { Texts } from './texts/en.ts'

export type ChartName = keyof Texts['server']['chart']

/** What the page shows of a server that events can change. `null` if a value is unknown. */
export interface ServerState extends Readonly<Omit<LiveState, 'maintenance' | 'players'>> {
  readonly group: string | null
  /** Null also if the page hides addresses. */
  readonly address: string | null
  /** The first of them, on the page of the server only. Null if no source has the full list, and if the page hides names. */
  readonly players: readonly ListedPlayer[] | null
  /** The message of the day with its formatting codes. */
  readonly formattedMotd: string | null
  /** Ticks per second; null means 20. */
  readonly tickRateTarget: number | null
  /** True: the server runs ticks as fast as it can (`/tick sprint`). */
  readonly sprinting: boolean | null
  /** True: a proxy answers for the server, which is stopped. */
  readonly asleep: boolean | null
  /** The world upgrade that the server performs before it is up; null if there is none. */
  readonly worldUpgrade: 'running' | 'failed' | null
  /** 0 to 1; null if unknown. */
  readonly worldUpgradeProgress: number | null
  readonly maintenance?: LiveState['maintenance']
  /** While up: sources that fail, with the code of their error. Empty if the page hides sources. */
  readonly failing: readonly { readonly source: string; readonly error: string }[]
}

export interface ListedPlayer {
  readonly ID: string
  readonly NAME: string
}

export interface PageServer {
  readonly name: string
  readonly state: ServerState
  /** While down: why, as the code of a source's error. */
  readonly error: string | null
  /** Unix milliseconds of the last contact. */
  readonly lastContact: number | null
}

/** The past of one server for its card. */
export interface CardHistory extends Pick<ServerOverview, 'from' | 'to' | 'since' | 'players'> {
  /** The last is today. */
  readonly days: readonly (ServerOverview['days'][number] & { readonly maintenance?: number })[]
  /** The uptime in parts of the last 24 hours, oldest first. */
  readonly parts: ServerOverview['up']
}

export interface FleetPage {
  /** Unix milliseconds at which this was made. */
  readonly at: number
  readonly servers: readonly PageServer[]
  /** The id of the last event before this was made. */
  readonly lastEventId: number
  readonly peak: { readonly players: number; readonly at: number } | null
}

export interface SourceRow {
  readonly source: string
  readonly state: string
  readonly target: string | null
  /** `at`: Unix milliseconds. */
  readonly lastError: { readonly code: string; readonly message: string; readonly at: number } | null
}

/** What a disabled or failing source would provide. */
export interface SourceHint {
  readonly source: string
  /** The settings that enable it. */
  readonly set: string
  readonly gives: readonly string[]
}

export interface Session {
  readonly player: ListedPlayer
  /** Unix milliseconds; null if the server was not watched when the player joined or left. */
  readonly from: number | null
  readonly to: number | null
  /** Null if that is not known now. */
  readonly isOnline: boolean | null
}

/** A time in which something was wrong with a server. All times are Unix milliseconds. */
export interface ShownIncident extends Pick<Incident, 'kind' | 'from' | 'to' | 'detail' | 'notes'> {
  /** Null if that is not known. */
  readonly ongoing: boolean | null
}

/** Players online whose name contains a text: the first of them, and the number of all. */
export interface FoundPlayers {
  readonly players: readonly ListedPlayer[]
  readonly total: number
}

/** The mean number of players in each step, which is milliseconds; null where unknown. `from`: Unix milliseconds. */
export interface WeekOfPlayers {
  readonly from: number
  readonly step: number
  readonly players: readonly (number | null)[]
}

export interface ServerDetails {
  readonly server: PageServer
  /** The length of the full list of players, and its time in Unix milliseconds; null as `server.state.players`. */
  readonly listed: { readonly total: number; readonly at: number } | null
  /** What players enter to join; null if it is unknown or the page hides addresses. */
  readonly join: { readonly address: string; readonly edition: 'java' | 'bedrock' } | null
  /** The charts that have values. */
  readonly charts: readonly ChartName[]
  readonly history: CardHistory | null
  readonly record: { readonly players: number; readonly at: number } | null
  /** The newest ones of the last 90 days, newest first. */
  readonly incidents: readonly ShownIncident[]
  /** Those that are online first, each newest first; null if the page hides names, or none are recorded. */
  readonly sessions: readonly Session[] | null
  /** Longest time first; null if the page hides names. */
  readonly regulars: readonly Regular[] | null
  /** Null if the page hides sources. */
  readonly sources: readonly SourceRow[] | null
  /** For each unknown value, what would provide it; null if the page hides sources. */
  readonly hints: readonly SourceHint[] | null
  /** `host:port` if the metrics have a separate address; null if they do not, or the page hides addresses. */
  readonly metricsListen: string | null
}

export interface ServerPage {
  readonly at: number
  readonly details: ServerDetails
}
