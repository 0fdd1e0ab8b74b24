import { isDeepStrictEqual } from 'node:util'
import { maskValue } from '../../secrets/mask-value.ts'
import { maskOfMessages } from '../scripts/mask-upstream.ts'
import type { Script, ScriptState } from '../scripts/script.ts'
import { messageOf, type RunRequest } from './execute.ts'
import { isEnded, isSuccess, type RunRecord, readHistory, type StartedRun } from './history.ts'
import { isLocked } from './lock.ts'

/** The scripts of a service, and how they are configured. */
export interface ScriptsOptions extends Pick<RunRequest, 'values' | 'log'> {
  readonly scripts: readonly Script[]
  /** Absolute; undefined if DATA_DIR is not set. */
  readonly dataDir: string | undefined
}

/** What the files of a script show: its runs in this process and in others that use the folder. */
export interface RecordedState {
  readonly isRunning: boolean
  /** A run in progress, or one whose process was killed. */
  readonly started?: StartedRun | undefined
  readonly last?: RunRecord | undefined
  /** ISO 8601. */
  readonly lastSuccess?: string | undefined
  /** Undefined if the script has no state, or it could not be read. */
  readonly own?: ScriptState | undefined
  /** Why it could not be read. */
  readonly problem?: string | undefined
}

/**
 * Reads the states of the scripts from the lock files and records in the data folder.
 * @param known those that were read before, of which the runs stay while the records cannot be read
 */
export async function readStates(
  { scripts, values, log }: ScriptsOptions,
  folder: string,
  known: ReadonlyMap<string, RecordedState>,
) {
  const mask = maskOfMessages(values)
  async function readOwnState(script: Script): Promise<Pick<RecordedState, 'own' | 'problem'>> {
    try {
      const state = await script.readState?.(values, folder)
      return { own: state && (maskValue(state, mask) as ScriptState), problem: undefined }
    } catch (error) {
      const problem = messageOf(error)
      // Read for each scrape: the same problem is logged once.
      if (problem !== known.get(script.name)?.problem)
        log.warn({ script: script.name }, `${script.name}: the state cannot be read (${problem})`)
      return { own: undefined, problem }
    }
  }

  const own = await Promise.all(scripts.map(readOwnState))
  const before = await readHistory(folder).catch(() => undefined)
  const held = await Promise.all(scripts.map(({ name }) => isLocked(folder, name)))
  // Again if there was a run that may have ended since: it is recorded before its lock is released.
  const mayHaveEnded = before?.runs.some((run) => !isEnded(run))
  const now = mayHaveEnded ? await readHistory(folder).catch(() => undefined) : before
  const states = scripts.map(({ name }, index): readonly [string, RecordedState] => {
    if (now === undefined) return [name, { ...known.get(name), isRunning: held[index] === true, ...own[index] }]
    const ofScript = now.runs.filter(({ script }) => script === name)
    const started = ofScript.find((run) => !isEnded(run))
    const isNew = started !== undefined && !before?.runs.some((run) => isDeepStrictEqual(run, started))
    const last = ofScript.findLast(isEnded)
    const lastSuccess = ofScript.findLast(isSuccess)?.ended ?? now.lastSuccess[name]
    return [name, { isRunning: held[index] === true || isNew, started, last, lastSuccess, ...own[index] }]
  })
  return new Map(states)
}
