import type { Clock } from '../../clock.ts'
import type { SettingName } from '../../config/settings.ts'
import type { Config } from '../../config.ts'
import type { Log } from '../../log.ts'

/** How a run ended. `reauthorise` and `rate_limited` are failures that say what helps. */
export const outcomes = ['done', 'partly', 'failed', 'not_configured', 'reauthorise', 'rate_limited'] as const
export type Outcome = (typeof outcomes)[number]

/** Of the script's items (wiki rows, projects, songs): what was looked at and what became of it. */
export interface Counts {
  readonly read: number
  readonly added: number
  readonly changed: number
  readonly unchanged: number
  readonly rejected: number
}

/** Counts of a run that goes on. */
export type Tally = { -readonly [Name in keyof Counts]: Counts[Name] }

export const noCounts: Counts = { read: 0, added: 0, changed: 0, unchanged: 0, rejected: 0 }

export interface RunResult {
  readonly outcome: Outcome
  readonly counts: Counts
  /** All, one sentence each, with the place (page and row, repository, song). The script has logged them. No secret. */
  readonly errors: readonly string[]
  /** Unix milliseconds from which another run makes sense, of `rate_limited`. */
  readonly retryAt?: number
}

/** What the person at the terminal sees of a run. Parts are the script's own: months, repositories, songs. */
export interface Progress {
  /** How many parts there are, as soon as it is known; may be called again when more turn up. */
  total(parts: number): void
  /** One part is dealt with. `label` names it: `2024-02`. */
  step(label: string): void
  /** The run waits for a rate limit of an upstream to end. */
  wait(upstream: string, milliseconds: number): void
}

export const noProgress: Progress = { total() {}, step() {}, wait() {} }

/** The settings that scripts may read: their own, and where the snapshots are. */
export type ScriptSettings = Config['scripts'] & Config['data']

export const scriptSettings = ({ scripts, data }: Pick<Config, 'scripts' | 'data'>): ScriptSettings => ({ ...data, ...scripts })

export interface RunContext {
  readonly values: ScriptSettings
  /** Absolute; exists and is this script's alone to write in for the time of the run (its own files). */
  readonly dataDir: string
  /** Aborted at the time limit and when the service stops. A script then rejects soon, having kept what it can. */
  readonly signal: AbortSignal
  readonly log: Log
  readonly clock: Clock
  readonly progress: Progress
  /** All zero at first. Counted up as the run goes on, so that one that ends early is on record with what it reached. */
  readonly counts: Tally
  /** Read everything again, not only what may have changed. */
  readonly full: boolean
  /** Ask the upstreams, but change nothing: no file, no upstream. */
  readonly dryRun: boolean
  /** Publish a snapshot that looks broken. */
  readonly force: boolean
  /** To be called before each effect; rejects where another replica may have it too. Absent: there is none. */
  readonly confirm?: (() => Promise<void>) | undefined
}

/** How new the data of a script are. Unix milliseconds. */
export interface DataAge {
  /** `last_update` of the database that the script writes; 0 without a snapshot, undefined if that is unknown for now. */
  lastUpdate(): Promise<number | undefined>
  /** When a run last succeeded; 0 if none has. */
  lastSuccess(): Promise<number>
}

/** What a script has in store between its runs. */
export interface ScriptState {
  /** Items that it tries only now and then because they keep failing, one sentence each. */
  readonly setAside: readonly string[]
  /** When the access that a person gave it ends, Unix milliseconds; undefined where that is unknown. */
  readonly authorisationExpires: number | undefined
}

/** One update script. The run routes, the schedule, the metrics and the command line are made from the list of these. */
export interface Script {
  readonly name: string
  /** Path of the route that starts it. */
  readonly route: string
  /** Of the route, for OpenAPI. */
  readonly summary: string
  /** What its parts are called: `months`. */
  readonly parts: string
  /** Name of the database whose snapshot it writes; absent: none. */
  readonly database?: string
  /** Cron expression (UTC) that it runs by without UPDATE_SCHEDULE, with a random delay; default: daily at 03:00. */
  readonly schedule?: string
  /** The settings without which it cannot run, of those that are not set. Empty: it can run. */
  missingSettings(settings: ScriptSettings): readonly SettingName[]
  /**
   * Whether a user has set it up; only then it runs without UPDATE_SCHEDULE.
   * @param dataDir absolute
   */
  isConfigured(settings: ScriptSettings, dataDir: string): boolean
  /** Unix milliseconds of the newest data that it has brought, 0: none; undefined: unknown for now. */
  newest(age: DataAge): Promise<number | undefined>
  /**
   * Its state, for `/v1/run` and the metrics; absent: it has none.
   * @param dataDir absolute
   */
  readState?(settings: ScriptSettings, dataDir: string): Promise<ScriptState>
  /** @throws anything; the runner makes it a `failed` result, of an UpstreamError with `retryAt` a `rate_limited` one */
  run(context: RunContext): Promise<RunResult>
}
