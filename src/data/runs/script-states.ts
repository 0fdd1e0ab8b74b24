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

export interface ScriptStatesOptions {
  readonly scripts: readonly Script[]
  readonly values: ScriptSettings
  /** Absolute; undefined if DATA_DIR is not set. */
  readonly dataDir: string | undefined
  readonly log: Log
}

const nothing: KnownState = { lock: undefined, last: undefined, interrupted: undefined, lastSuccess: undefined, own: undefined }

/** The state of each script, read from the lock files and records in the data folder. */
export function createScriptStates({ scripts, values, dataDir, log }: ScriptStatesOptions) {
  const mask = maskOfMessages(values)
  const states = new Map<string, KnownState>()
  const stateOf = (name: string): KnownState => states.get(name) ?? nothing
  const set = (name: string, change: Partial<KnownState>) => void states.set(name, { ...stateOf(name), ...change })

  async function read(folder: string): Promise<void> {
    // Locks before records: a run is recorded before its lock is released.
    const held = new Set<string>()
    for (const { name } of scripts) if (await isLocked(folder, name)) held.add(name)
    const { runs, lastSuccess, started } = await readHistory(folder)
    const startOf = (name: string) => started.find(({ script }) => script === name)
    for (const { name } of scripts) {
      const known = stateOf(name)
      const newest = runs.findLast(({ script }) => script === name)
      const success = lastSuccess[name] ?? ''
      set(name, {
        lock: held.has(name) ? { started: startOf(name)?.started } : undefined,
        ...(newest !== undefined && newest.ended >= (known.last?.ended ?? '') && { last: newest }),
        ...(success > (known.lastSuccess ?? '') && { lastSuccess: success }),
      })
    }
    for (const script of scripts) {
      const { name } = script
      set(name, { interrupted: await findInterrupted(folder, startOf(name)), own: await readOwnState(script, folder) })
    }
  }

  /** The run that is recorded as started, but whose lock no process holds. */
  async function findInterrupted(folder: string, run: StartedRun | undefined): Promise<StartedRun | undefined> {
    if (run === undefined || stateOf(run.script).lock !== undefined || (await isLocked(folder, run.script))) return undefined
    // Its end could not be recorded.
    if (stateOf(run.script).last?.started === run.started) return undefined
    // Read again: the run may have been recorded and its lock released since the file was read.
    const { started } = await readHistory(folder)
    return started.find(({ script, started }) => script === run.script && started === run.started)
  }

  async function readOwnState(script: Script, folder: string): Promise<ScriptState | undefined> {
    try {
      const state = await script.readState?.(values, folder)
      return state && (maskValue(state, mask) as ScriptState)
    } catch (error) {
      log.warn({ script: script.name, err: error }, `${script.name}: the state cannot be read`)
      return undefined
    }
  }

  let reading: Promise<void> | undefined
  return {
    /** As of the last refresh. */
    of: stateOf,
    /** Calls during a refresh share it. */
    refresh(): Promise<void> {
      if (dataDir === undefined) return Promise.resolve()
      reading ??= read(dataDir).finally(() => {
        reading = undefined
      })
      return reading
    },
    /** Adds a run of this process that has ended. */
    addEnd: (record: RunRecord) => set(record.script, { last: record, ...(isSuccess(record) && { lastSuccess: record.ended }) }),
    /** Forgets a lock that has just been released. */
    released: (name: string) => set(name, { lock: undefined }),
  }
}
