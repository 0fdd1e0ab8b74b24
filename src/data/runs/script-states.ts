import { maskValue } from '../../secrets/mask-value.ts'
import type { Log } from '../../util/log.ts'
import { maskOfMessages } from '../scripts/mask-upstream.ts'
import type { Script, ScriptSettings, ScriptState } from '../scripts/script.ts'
import { readHistory } from './history.ts'
import { isLocked } from './lock.ts'
import { isSuccess, type RunRecord, type StartedRun } from './run-record.ts'

/** The state of a script and its runs, in this process and in others that use the folder. */
export interface KnownState {
  /** Set while its lock is held, by another process or by a script of this process that ignored its abort. */
  readonly lock: { readonly started: string | undefined } | undefined
  /** The last run that has ended. */
  readonly last: RunRecord | undefined
  /** A later run whose process was killed; only its start is known. */
  readonly interrupted: StartedRun | undefined
  /** ISO 8601. */
  readonly lastSuccess: string | undefined
  /** Undefined if the script has no state, or it could not be read. */
  readonly own: ScriptState | undefined
}

/** The state of each script, read from the lock files and records in the data folder. */
export interface ScriptStates {
  /** As of the last refresh. */
  of(name: string): KnownState
  /** Calls during a refresh share it. */
  refresh(): Promise<void>
  /** Adds a run of this process that has ended. */
  addEnd(record: RunRecord): void
  /** Forgets a lock that has just been released. */
  released(name: string): void
}

export interface ScriptStatesOptions {
  readonly scripts: readonly Script[]
  readonly values: ScriptSettings
  /** Absolute; undefined if DATA_DIR is not set. */
  readonly dataDir: string | undefined
  readonly log: Log
}

export function createScriptStates({ scripts, values, dataDir, log }: ScriptStatesOptions): ScriptStates {
  const mask = maskOfMessages(values)
  /** Recorded start of each run that holds its lock, ISO 8601; undefined if there is no record of it. */
  const locked = new Map<string, string | undefined>()
  const last = new Map<string, RunRecord>()
  const interrupted = new Map<string, StartedRun>()
  const lastSuccess = new Map<string, string>()
  const states = new Map<string, ScriptState>()

  async function read(folder: string): Promise<void> {
    // Locks before records: a run is recorded before its lock is released.
    const held = new Set<string>()
    for (const { name } of scripts) if (await isLocked(folder, name)) held.add(name)
    const history = await readHistory(folder)
    for (const { name } of scripts) {
      if (held.has(name)) locked.set(name, history.started?.find(({ script }) => script === name)?.started)
      else locked.delete(name)
      const newest = history.runs.findLast(({ script }) => script === name)
      if (newest !== undefined && newest.ended >= (last.get(name)?.ended ?? '')) last.set(name, newest)
      const success = history.lastSuccess[name]
      if (success !== undefined && success >= (lastSuccess.get(name) ?? '')) lastSuccess.set(name, success)
    }
    for (const { name } of scripts) {
      const run = await findInterrupted(folder, name, history.started)
      if (run === undefined) interrupted.delete(name)
      else interrupted.set(name, run)
    }
    for (const script of scripts) await readOwnState(script, folder)
  }

  /** The run that is recorded as started, but whose lock no process holds. */
  async function findInterrupted(folder: string, name: string, started: readonly StartedRun[]): Promise<StartedRun | undefined> {
    const run = started.find(({ script }) => script === name)
    if (run === undefined || locked.has(name) || (await isLocked(folder, name))) return undefined
    // Its end could not be recorded.
    if (last.get(name)?.started === run.started) return undefined
    // Read again: the run may have been recorded and its lock released since the file was read.
    const { started: now } = await readHistory(folder)
    return now.find((one) => one.script === name && one.started === run.started)
  }

  async function readOwnState(script: Script, folder: string): Promise<void> {
    try {
      const state = await script.readState?.(values, folder)
      if (state !== undefined) states.set(script.name, maskValue(state, mask) as ScriptState)
    } catch (error) {
      states.delete(script.name)
      log.warn({ script: script.name, err: error }, `${script.name}: the state cannot be read`)
    }
  }

  let reading: Promise<void> | undefined
  return {
    of: (name) => ({
      lock: locked.has(name) ? { started: locked.get(name) } : undefined,
      last: last.get(name),
      interrupted: interrupted.get(name),
      lastSuccess: lastSuccess.get(name),
      own: states.get(name),
    }),
    refresh() {
      if (dataDir === undefined) return Promise.resolve()
      reading ??= read(dataDir).finally(() => {
        reading = undefined
      })
      return reading
    },
    addEnd(record) {
      last.set(record.script, record)
      if (isSuccess(record)) lastSuccess.set(record.script, record.ended)
    },
    released: (name) => void locked.delete(name),
  }
}
