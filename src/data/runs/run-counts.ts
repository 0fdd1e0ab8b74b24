import type { Log } from '../../util/log.ts'
import { type Outcome, outcomes, type Script } from '../scripts/script.ts'
import { claimInterrupted } from './history.ts'
import type { ScriptStates } from './script-states.ts'

/** Ended runs since the service started, for the metrics. */
export interface RunCounts {
  /** Every outcome, also those that have not occurred. */
  of(name: string): Readonly<Record<Outcome, number>>
  add(name: string, outcome: Outcome): void
  /**
   * Counts the interrupted runs of the folder as failed, each by one process only. Never rejects.
   */
  addInterrupted(): Promise<void>
}

export interface RunCountsOptions {
  readonly scripts: readonly Script[]
  readonly states: Pick<ScriptStates, 'uncounted'>
  /** Absolute; undefined if DATA_DIR is not set. */
  readonly dataDir: string | undefined
  readonly log: Log
}

export function createRunCounts({ scripts, states, dataDir, log }: RunCountsOptions): RunCounts {
  const none = () => Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>
  const counts = new Map(scripts.map(({ name }) => [name, none()]))
  /** Interrupted runs that this process has claimed: in a folder that it cannot write to, they stay unmarked. */
  const claimed = new Set<string>()

  function add(name: string, outcome: Outcome): void {
    const ofScript = counts.get(name)
    if (ofScript !== undefined) ofScript[outcome]++
  }

  return {
    of: (name) => counts.get(name) ?? none(),
    add,
    async addInterrupted() {
      if (dataDir === undefined) return
      const keyOf = ({ script, started }: { readonly script: string; readonly started: string }) => `${script} ${started}`
      const found = states.uncounted().filter((run) => !claimed.has(keyOf(run)))
      if (found.length === 0) return
      for (const run of found) claimed.add(keyOf(run))
      for (const { script } of await claimInterrupted(dataDir, found, log)) add(script, 'failed')
    },
  }
}
