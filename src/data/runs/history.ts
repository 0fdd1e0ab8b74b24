import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { FileSizeError, readFileUpTo } from '../../util/files.ts'
import { isRecord } from '../../util/is-record.ts'
import { parseJson } from '../../util/json.ts'
import type { Log } from '../../util/log.ts'
import { check, type Static, type TSchema, Type } from '../../util/schema.ts'
import { withLock } from './lock.ts'
import { isSuccess, RunRecord, StartedRun } from './run-record.ts'

export interface History {
  /** The last {@link maxRuns}, the newest last. */
  readonly runs: readonly RunRecord[]
  /** Time of the last success by script; it may be older than all of `runs`. */
  readonly lastSuccess: Readonly<Record<string, string>>
  /** Runs in progress, and runs whose process was killed, until the next run of the script. */
  readonly started: readonly StartedRun[]
  /** Interrupted runs that were not counted before the next run of the script started; the last {@link maxRuns}. */
  readonly uncounted: readonly StartedRun[]
}

const maxRuns = 50
/** Far more than so many runs with their errors. */
const maxBytes = 16 * 1024 * 1024

const noHistory: History = { runs: [], lastSuccess: {}, started: [], uncounted: [] }

const pathOf = (dataDir: string): string => join(dataDir, 'runs.json')

const LastSuccess = Type.Record(Type.String(), Type.String())

/** The list without items that are not valid. */
const validOf = <T extends TSchema>(schema: T, list: unknown): Static<T>[] =>
  Array.isArray(list) ? list.filter((item): item is Static<T> => check(schema, item)) : []

/**
 * The runs so far, except those that are not valid, such as those of another version; none if the file cannot be read.
 * @throws FileSizeError
 */
async function loadHistory(dataDir: string): Promise<History> {
  try {
    const value = parseJson(String(await readFileUpTo(pathOf(dataDir), maxBytes)))
    if (!isRecord(value)) return noHistory
    const { runs, lastSuccess, started, uncounted } = value
    return {
      runs: validOf(RunRecord, runs),
      lastSuccess: check(LastSuccess, lastSuccess) ? lastSuccess : {},
      started: validOf(StartedRun, started),
      uncounted: validOf(StartedRun, uncounted),
    }
  } catch (error) {
    if (error instanceof FileSizeError) throw error
    return noHistory
  }
}

/** The runs so far; none if the file does not exist, is too large or is not valid. */
export const readHistory = (dataDir: string): Promise<History> => loadHistory(dataDir).catch(() => noHistory)

const textOf = (history: History): string => `${JSON.stringify(history, null, 1)}\n`

/**
 * On a full disk, overwrites the file in place with as many of the newest runs as fit into its present size. Not atomic: a
 * truncated file reads as no history, which is better than one that lacks the newest run.
 */
async function overwrite(path: string, { runs, ...others }: History): Promise<void> {
  const file = await open(path, 'r+')
  try {
    const { size } = await file.stat()
    const newest = runs.slice(-1).map((run) => ({ ...run, errors: run.errors.slice(0, 1) }))
    const candidates = [...runs.keys()].map((count) => textOf({ runs: runs.slice(count), ...others }))
    const text = [...candidates, textOf({ runs: newest, ...others })].find((made) => Buffer.byteLength(made) <= size)
    if (text === undefined) throw new Error('the newest run does not fit')
    const { bytesWritten } = await file.write(text, 0)
    await file.truncate(bytesWritten)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** If the newest run does not fit, the file is removed: it must not report the run before as the last one. */
const overwriteOrRemove = (path: string, history: History): Promise<void> =>
  overwrite(path, history).catch(() => rm(path, { force: true }))

/**
 * Updates the file. A failure is only logged, because it does not affect the run itself.
 * @param onFull called if the file cannot be replaced
 */
async function update(
  { dataDir, script, log }: { readonly dataDir: string; readonly script: string; readonly log: Log },
  change: (history: History) => History,
  onFull: (path: string, history: History) => Promise<void>,
): Promise<void> {
  try {
    await withLock(dataDir, 'runs', async () => {
      const next = change(await loadHistory(dataDir))
      await writeFileAtomic(pathOf(dataDir), textOf(next)).catch(async (error: unknown) => {
        await onFull(pathOf(dataDir), next)
        throw error
      })
    })
  } catch (error) {
    log.error({ script, err: error }, 'runs.json could not be written completely')
  }
}

const startedOf = ({ started }: History, name: string) => started.filter(({ script }) => script === name)
const startedWithout = ({ started }: History, name: string) => started.filter(({ script }) => script !== name)

/** Adds a run that starts, so that it is recorded even if its process is killed. */
export const addStart = (dataDir: string, { script, trigger, started }: StartedRun, log: Log): Promise<void> =>
  update(
    { dataDir, script, log },
    (history) => ({
      ...history,
      started: [...startedWithout(history, script), { script, trigger, started }],
      uncounted: [...history.uncounted, ...startedOf(history, script).filter(({ counted }) => counted !== true)].slice(-maxRuns),
    }),
    // Keep the records of earlier runs rather than the start of this one.
    async () => {},
  )

/** Adds a run that has ended. */
export const addRun = (dataDir: string, run: RunRecord, log: Log): Promise<void> =>
  update(
    { dataDir, script: run.script, log },
    (history) => ({
      ...history,
      runs: [...history.runs, run].slice(-maxRuns),
      lastSuccess: { ...history.lastSuccess, ...(isSuccess(run) && { [run.script]: run.ended }) },
      started: startedWithout(history, run.script),
    }),
    overwriteOrRemove,
  )

const isSameRun = (a: StartedRun, b: StartedRun): boolean => a.script === b.script && a.started === b.started

/**
 * Marks interrupted runs as counted.
 * @param found interrupted runs that are not marked
 * @returns those of them that no other process has marked since; all if the file cannot be locked
 */
export async function claimInterrupted(dataDir: string, found: readonly StartedRun[], log: Log): Promise<readonly StartedRun[]> {
  let claimed = found
  const script = [...new Set(found.map((run) => run.script))].join(', ')
  const isFound = (run: StartedRun) => run.counted !== true && found.some((one) => isSameRun(one, run))
  await update(
    { dataDir, script, log },
    (history) => {
      const { started, uncounted } = history
      claimed = [...uncounted, ...started].filter(isFound)
      return {
        ...history,
        started: started.map((run) => (isFound(run) ? { ...run, counted: true } : run)),
        uncounted: uncounted.filter((run) => !isFound(run)),
      }
    },
    async () => {},
  )
  return claimed
}
