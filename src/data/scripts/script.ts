import type { Clock } from '../../clock.ts'
import type { ScriptName } from '../../config/kinds.ts'
import type { SettingName, SettingValues } from '../../config/settings.ts'
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
}

export const noProgress: Progress = { total() {}, step() {} }

export interface RunContext {
  readonly values: SettingValues
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
}

export interface Script {
  readonly name: ScriptName
  /** What its parts are called: `months`. */
  readonly parts: string
  /** The settings without which it cannot run, of those that are not set; empty: it can. */
  missingSettings(values: SettingValues): readonly SettingName[]
  /** @throws anything; the runner makes it a `failed` result, of an UpstreamError with `retryAt` a `rate_limited` one */
  run(context: RunContext): Promise<RunResult>
}
