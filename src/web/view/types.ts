import type { Texts } from './texts/en.ts'

export type ChartName = keyof Texts['server']['chart']

/** What the page shows of a server that events can change. `null` if a value is unknown. */
export interface ServerState {
  readonly group: string | null
  /** Null also if the page hides addresses. */
  readonly address: string | null
  readonly up: boolean | null
  readonly online: number | null
  readonly max: number | null
  /** The first of them, on the page of the server only. Null if no source has the full list, and if the page hides names. */
  readonly players: readonly ListedPlayer[] | null
  readonly version: string | null
  readonly software: string | null
  readonly motd: string | null
  /** The message of the day with its formatting codes. */
  readonly formattedMotd: string | null
  /** Ticks per second; a target of null means 20. */
  readonly tickRate: number | null
  readonly tickRateTarget: number | null
  /** Milliseconds per tick. */
  readonly tickTimeMean: number | null
  readonly tickTimeP99: number | null
  readonly paused: boolean | null
  readonly frozen: boolean | null
  /** True: the server runs ticks as fast as it can (`/tick sprint`). */
  readonly sprinting: boolean | null
  /** Milliseconds. */
  readonly latency: number | null
  /** False: the server accepts connections, but its main thread does not answer. */
  readonly responsive: boolean | null
  /** True: a proxy answers for the server, which is stopped. */
  readonly asleep: boolean | null
  /** The world upgrade that the server performs before it is up; null if there is none. */
  readonly worldUpgrade: 'running' | 'failed' | null
  /** 0 to 1; null if unknown. */
  readonly worldUpgradeProgress: number | null
  /** The maintenance that it is in; `until` is Unix milliseconds. */
  readonly maintenance?: { readonly reason: string; readonly until: number } | null
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
export interface CardHistory {
  /** UTC days, oldest first; the last is today. `up` is the uptime as a part of the known time; null if unknown. */
  readonly days: readonly {
    readonly date: string
    readonly up: number | null
    readonly known: number
    readonly maintenance?: number
  }[]
  /** The last 24 hours in equal parts, oldest first. */
  readonly parts: readonly (number | null)[]
  readonly players: readonly (number | null)[]
  /** Unix milliseconds of the start and end of `parts` and `players`. */
  readonly from: number
  readonly to: number
  /** Unix milliseconds from which on the state was known in this time; null if it was not. */
  readonly since: number | null
}

export interface FleetPage {
  readonly kind: 'fleet'
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

/** What one player played on the server in the last seven days. */
export interface Regular {
  readonly player: ListedPlayer
  readonly seconds: number
  readonly sessions: number
  /** Unix milliseconds; `firstSeen` is null if the player was there before the server was watched. */
  readonly firstSeen: number | null
  readonly lastSeen: number
  readonly online: boolean | null
}

/** A time in which something was wrong with a server. All times are Unix milliseconds. */
export interface ShownIncident {
  readonly kind: 'down' | 'hung' | 'lag'
  readonly from: number
  /** Null if it has not ended, or its end is not known. */
  readonly to: number | null
  /** Null if that is not known. */
  readonly ongoing: boolean | null
  /** Of `down`: the code of the error; of `lag`: the lowest number of ticks per second. */
  readonly detail: string | null
  readonly notes: readonly { readonly at: number; readonly text: string }[]
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
  /** Those that are online first, each newest first; null if the page hides names. */
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
  readonly kind: 'server'
  readonly at: number
  readonly details: ServerDetails
}

/** The page of a server that is not watched. */
export interface MissingPage {
  readonly kind: 'missing'
}

export type PageData = FleetPage | ServerPage | MissingPage
