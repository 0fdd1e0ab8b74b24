import type { SliceOf } from '../../settings/setting.ts'
import type { Clock } from '../../util/clock.ts'
import type { Log } from '../../util/log.ts'
import { type Static, Type } from '../../util/schema.ts'
import { type DataSettings, data } from '../settings.ts'
import { updateScripts } from './settings.ts'

/** How a run ended. `reauthorise` and `rate_limited` are failures with a known remedy. */
export const outcomes = ['done', 'partly', 'failed', 'not_configured', 'reauthorise', 'rate_limited'] as const
export type Outcome = (typeof outcomes)[number]

const Count = Type.Integer({ minimum: 0 })
export const Counts = Type.Object(
  { read: Count, added: Count, changed: Count, unchanged: Count, rejected: Count },
  { description: 'Number of rows, projects or songs; of an aborted run, those processed before it ended' },
)
export type Counts = Static<typeof Counts>

export const noCounts: Readonly<Counts> = { read: 0, added: 0, changed: 0, unchanged: 0, rejected: 0 }

export interface RunResult {
  readonly outcome: Outcome
  /** All errors, one sentence each, with the location (page and row, repository, song). Already logged. No secrets. */
  readonly errors: readonly string[]
  /** Of `rate_limited`: when the upstream accepts requests again, Unix milliseconds. */
  readonly retryAt?: number
}

/** Progress of a run, shown in the terminal. It is counted in parts: months, repositories or songs. */
export interface Progress {
  /** Sets the number of parts; may be called again if there are more. */
  total(parts: number): void
  /** One part is done. `label` names it: `2024-02`. */
  step(label: string): void
  /** The run waits for a rate limit of an upstream to end. */
  wait(upstream: string, milliseconds: number): void
}

export const noProgress: Progress = { total() {}, step() {}, wait() {} }

/** The settings that scripts may read: their own, and the locations of the snapshots. */
export type ScriptSettings = DataSettings & SliceOf<typeof updateScripts>
export type ScriptSettingName = keyof ScriptSettings

export const scriptSettingTable = { ...data, ...updateScripts }

export const scriptSettings = (config: {
  readonly data: DataSettings
  readonly scripts: SliceOf<typeof updateScripts>
}): ScriptSettings => ({ ...config.data, ...config.scripts })

export interface RunContext {
  readonly values: ScriptSettings
  /** Absolute; exists. Only this run writes the files of its script there. */
  readonly dataDir: string
  /**
   * Aborted at the time limit and when the service stops. The script must then save its progress and reject promptly. Also aborted when
   * the script has ended, which closes its upstreams.
   */
  readonly signal: AbortSignal
  readonly log: Log
  readonly clock: Clock
  readonly progress: Progress
  /** Zero at the start, updated by the script: an aborted run is recorded with its counts so far. */
  readonly counts: Counts
  /** Read everything again, not only changes. */
  readonly full: boolean
  /** Read from the upstreams, but change nothing: neither files nor upstreams. */
  readonly dryRun: boolean
  /** Publish a snapshot that looks broken; a text: only this part of it, such as the month `2024-02`. */
  readonly force: boolean | string
  /** To be called before each side effect; rejects if another replica may have taken over the run. Absent without replicas. */
  readonly confirm?: (() => Promise<void>) | undefined
}

export interface ScriptState {
  /** Items that it retries less often because they keep failing, one sentence each. */
  readonly setAside: readonly string[]
  /** When the user's authorisation expires, Unix milliseconds; undefined if unknown. */
  readonly authorisationExpires: number | undefined
}

/** One update script. The run routes, schedule, metrics and commands are created from the list of scripts. */
export interface Script {
  readonly name: string
  readonly route: string
  readonly summary: string
  /** Unit of its progress: `months`. */
  readonly parts: string
  /** Name of the database whose snapshot it writes, which tells the age of its data; absent: none, its last success does. */
  readonly database?: string
  /** Required settings that are not set. Empty: it can run. */
  missingSettings(settings: ScriptSettings): readonly ScriptSettingName[]
  /**
   * Whether the user has configured it; only then it runs without UPDATE_SCHEDULE.
   * @param dataDir absolute
   */
  isConfigured(settings: ScriptSettings, dataDir: string): boolean
  /**
   * Reads its state, for `/v1/run` and the metrics; absent: it has none.
   * @param dataDir absolute
   */
  readState?(settings: ScriptSettings, dataDir: string): Promise<ScriptState>
  /** @throws any error, which becomes a `failed` result; an UpstreamError with `retryAt` becomes `rate_limited` */
  run(context: RunContext): Promise<RunResult>
}
