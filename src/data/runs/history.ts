import { join } from 'node:path'
import { withLock } from '../../util/file-lock.ts'
import { writeAtomic } from '../../util/files.ts'
import type { Log } from '../../util/log.ts'
import { check, type Static, type TSchema, Type } from '../../util/schema.ts'
import { Counts, outcomes } from '../scripts/script.ts'
import { readStateFile } from '../scripts/state-file.ts'
import { lockPath } from './lock.ts'

const triggers = ['request', 'schedule', 'catch-up', 'command'] as const
/** What started a run. */
export type Trigger = (typeof triggers)[number]

/** A run that has ended. Times are ISO 8601, UTC. */
export const RunRecord = Type.Object({
  script: Type.String(),
  trigger: Type.Enum(triggers),
  started: Type.String(),
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

/** A run whose start is recorded, but not its end. */
const StartedRun = Type.Object({ script: Type.String(), trigger: Type.Enum(triggers), started: Type.String() })
export type StartedRun = Static<typeof StartedRun>

/** Whether a run published its results. */
export const isSuccess = ({ outcome }: Pick<RunRecord, 'outcome'>): boolean => outcome === 'done' || outcome === 'partly'

/** Maximum number of errors in the record of a run; the log contains all of them. */
const maxErrors = 20

/** The first errors, and a line with the number of the others. */
export const firstErrors = (errors: readonly string[]): readonly string[] =>
  errors.length <= maxErrors ? errors : [...errors.slice(0, maxErrors), `and ${errors.length - maxErrors} more, see the log`]

interface History {
  /** The last {@link maxRuns}, the newest last. */
  readonly runs: readonly RunRecord[]
  /** Time of the last success by script; it may be older than all of `runs`. */
  readonly lastSuccess: Readonly<Record<string, string>>
  /** Runs in progress, and runs whose process was killed, until the next run of the script. */
  readonly started: readonly StartedRun[]
}

const maxRuns = 50
/** Far more than so many runs with their errors. */
const maxBytes = 16 * 1024 * 1024

const noHistory: History = { runs: [], lastSuccess: {}, started: [] }

const pathOf = (dataDir: string): string => join(dataDir, 'runs.json')

const Stored = Type.Record(Type.String(), Type.Unsafe<unknown>({}))
const LastSuccess = Type.Record(Type.String(), Type.String())

/** The list without items that are not valid. */
const validOf = <T extends TSchema>(schema: T, list: unknown): Static<T>[] =>
  Array.isArray(list) ? list.filter((item): item is Static<T> => check(schema, item)) : []

/**
 * The runs so far, except those that are not valid, such as those of another version; none if the file does not exist or is not JSON.
 * @throws FileSizeError, or Error of the system: the file may be valid, so it must not be replaced
 */
async function loadHistory(dataDir: string): Promise<History> {
  const { runs, lastSuccess, started } = (await readStateFile(pathOf(dataDir), Stored, maxBytes)) ?? {}
  return {
    runs: validOf(RunRecord, runs),
    lastSuccess: check(LastSuccess, lastSuccess) ? lastSuccess : {},
    started: validOf(StartedRun, started),
  }
}

/** The runs so far; none if the file does not exist, is not valid, or cannot be read. */
export const readHistory = (dataDir: string): Promise<History> => loadHistory(dataDir).catch(() => noHistory)

/** Updates the file. A failure is only logged, because it does not affect the run itself; the file keeps what it had. */
async function update(dataDir: string, script: string, log: Log, change: (history: History) => History): Promise<void> {
  try {
    await withLock(lockPath(dataDir, 'runs'), async () => {
      const next = change(await loadHistory(dataDir))
      await writeAtomic(pathOf(dataDir), `${JSON.stringify(next, null, 1)}\n`)
    })
  } catch (error) {
    log.error({ script, err: error }, 'runs.json could not be written')
  }
}

const startedWithout = ({ started }: History, name: string) => started.filter(({ script }) => script !== name)

/** Adds a run that starts, so that it is recorded even if its process is killed. */
export const addStart = (dataDir: string, { script, trigger, started }: StartedRun, log: Log): Promise<void> =>
  update(dataDir, script, log, (history) => ({
    ...history,
    started: [...startedWithout(history, script), { script, trigger, started }],
  }))

/** Adds a run that has ended. */
export const addRun = (dataDir: string, run: RunRecord, log: Log): Promise<void> =>
  update(dataDir, run.script, log, (history) => ({
    runs: [...history.runs, run].slice(-maxRuns),
    lastSuccess: { ...history.lastSuccess, ...(isSuccess(run) && { [run.script]: run.ended }) },
    started: startedWithout(history, run.script),
  }))
