import { join } from 'node:path'
import { withLock } from '../../util/file-lock.ts'
import { writeAtomic } from '../../util/files.ts'
import type { Log } from '../../util/log.ts'
import { check, type Static, Type } from '../../util/schema.ts'
import { Counts, outcomes } from '../scripts/script.ts'
import { readStateFile } from '../scripts/state-file.ts'
import { lockPath } from './lock.ts'

const triggers = ['request', 'schedule', 'catch-up', 'command'] as const
export type Trigger = (typeof triggers)[number]

const start = { script: Type.String(), trigger: Type.Enum(triggers), started: Type.String() }

/** A run that has started. If its end is not recorded, it is in progress or its process was killed. */
const StartedRun = Type.Object(start, { additionalProperties: false })
export type StartedRun = Static<typeof StartedRun>

/** A run that has ended. Times are ISO 8601, UTC. */
export const RunRecord = Type.Object({
  ...start,
  ended: Type.String(),
  duration: Type.Number({ description: 'Seconds' }),
  outcome: Type.Enum(outcomes),
  counts: Counts,
  errors: Type.Array(Type.String()),
  retryAt: Type.Optional(
    Type.String({ description: 'If rate_limited: the time after which the upstream accepts requests again' }),
  ),
})
export type RunRecord = Static<typeof RunRecord>

export const isEnded = (run: StartedRun | RunRecord): run is RunRecord => 'ended' in run

/** Whether a run published its results. */
export const isSuccess = (run: StartedRun | RunRecord): run is RunRecord =>
  isEnded(run) && (run.outcome === 'done' || run.outcome === 'partly')

/** Maximum number of errors in the record of a run; the log contains all of them. */
const maxErrors = 20

/** The first errors, and a line with the number of the others. */
export const firstErrors = (errors: readonly string[]): readonly string[] =>
  errors.length <= maxErrors ? errors : [...errors.slice(0, maxErrors), `and ${errors.length - maxErrors} more, see the log`]

const maxRuns = 50
/** Far more than so many runs with their errors. */
const maxBytes = 16 * 1024 * 1024

type Runs = readonly (StartedRun | RunRecord)[]

export interface History {
  /** The newest last. */
  readonly runs: Runs
  /** When each script last succeeded, ISO 8601, as version 0.2 wrote it: the run may not be among `runs`. */
  readonly lastSuccess: Readonly<Record<string, string>>
}

const pathOf = (dataDir: string): string => join(dataDir, 'runs.json')

const Stored = Type.Record(Type.String(), Type.Unsafe<unknown>({}))
const LastSuccess = Type.Record(Type.String(), Type.String())

/**
 * The runs so far, except those that are not valid, such as those of another version; none if the file does not exist or is not JSON.
 * @throws FileSizeError, or Error of the system: the file may be valid, so it must not be replaced
 */
export async function readHistory(dataDir: string): Promise<History> {
  const { runs, lastSuccess } = (await readStateFile(pathOf(dataDir), Stored, maxBytes)) ?? {}
  const isRun = (run: unknown): run is StartedRun | RunRecord => check(RunRecord, run) || check(StartedRun, run)
  return {
    runs: Array.isArray(runs) ? runs.filter(isRun) : [],
    lastSuccess: check(LastSuccess, lastSuccess) ? lastSuccess : {},
  }
}

/**
 * Adds a run, which replaces the starts before it whose end is not recorded: a run that has lost its lock must not replace the start of the
 * one that took it. Keeps the last runs, and the last success of each script.
 */
function withRun(before: Runs, run: StartedRun | RunRecord): Runs {
  const isReplaced = (one: StartedRun | RunRecord) =>
    !isEnded(one) && one.script === run.script && (!isEnded(run) || one.started <= run.started)
  const runs = [...before.filter((one) => !isReplaced(one)), run]
  const lastSuccess = new Map(runs.filter(isSuccess).map((one) => [one.script, one]))
  return runs.filter((one, index) => index >= runs.length - maxRuns || one === lastSuccess.get(one.script))
}

/**
 * Records a run: when it starts, so that it is known even if its process is killed, and when it has ended. A failure is only logged,
 * because it does not affect the run itself; the file keeps what it had.
 */
export async function addRun(dataDir: string, run: StartedRun | RunRecord, log: Log): Promise<void> {
  try {
    await withLock(lockPath(dataDir, 'runs'), async () => {
      const { runs, lastSuccess } = await readHistory(dataDir)
      await writeAtomic(pathOf(dataDir), `${JSON.stringify({ runs: withRun(runs, run), lastSuccess }, null, 1)}\n`)
    })
  } catch (error) {
    log.error({ script: run.script, err: error }, 'runs.json could not be written')
  }
}
