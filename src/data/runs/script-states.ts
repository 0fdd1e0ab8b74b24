import { isDeepStrictEqual } from 'node:util'
import { maskValue } from '../../secrets/mask-value.ts'
import { maskOfMessages } from '../scripts/mask-upstream.ts'
import type { Script, ScriptState } from '../scripts/script.ts'
import type { RunRequest } from './execute.ts'
import { isSuccess, type RunRecord, readHistory, type StartedRun } from './history.ts'
import { isLocked } from './lock.ts'

/** The state of a script and its runs, in this process and in others that use the folder. */
export interface KnownState {
  /** Set while its lock is held. */
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

/** The scripts of a service, and how they are configured. */
export interface ScriptsOptions extends Pick<RunRequest, 'values' | 'log'> {
  readonly scripts: readonly Script[]
  /** Absolute; undefined if DATA_DIR is not set. */
  readonly dataDir: string | undefined
}

const nothing: KnownState = { lock: undefined, last: undefined, interrupted: undefined, lastSuccess: undefined, own: undefined }

/** The state of each script, read from the lock files and records in the data folder. */
export function createScriptStates({ scripts, values, dataDir, log }: ScriptsOptions) {
  const mask = maskOfMessages(values)
  const states = new Map<string, KnownState>()
  const stateOf = (name: string): KnownState => states.get(name) ?? nothing
  const set = (name: string, change: Partial<KnownState>) => void states.set(name, { ...stateOf(name), ...change })

  async function read(folder: string): Promise<void> {
    const own = await Promise.all(scripts.map((script) => readOwnState(script, folder)))
    const before = await readHistory(folder)
    const held = await Promise.all(scripts.map(({ name }) => isLocked(folder, name)))
    // Again, because a run may have ended since: it is recorded before its lock is released.
    const { runs, lastSuccess, started } = before.started.length > 0 ? await readHistory(folder) : before
    for (const [index, { name }] of scripts.entries()) {
      const known = stateOf(name)
      const newest = runs.findLast(({ script }) => script === name)
      const last = newest !== undefined && newest.ended >= (known.last?.ended ?? '') ? newest : known.last
      const start = started.find(({ script }) => script === name)
      const isOld = before.started.some((run) => isDeepStrictEqual(run, start))
      // If it was the last to end, its end could not be recorded.
      const isKilled = !held[index] && isOld && last?.started !== start?.started
      const success = lastSuccess[name] ?? ''
      set(name, {
        ...{ last, own: own[index], interrupted: isKilled ? start : undefined },
        lock: held[index] ? { started: start?.started } : undefined,
        ...(success > (known.lastSuccess ?? '') && { lastSuccess: success }),
      })
    }
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
