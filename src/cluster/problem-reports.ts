import type { Log } from '../log.ts'
import type { StateProblem } from './problem.ts'

/** What commands are for; `commands` and `messages` are the two connections themselves. */
export type StatePart = 'commands' | 'messages' | 'members' | 'snapshots' | 'locks'

/** Logs each problem with the shared state once, and when the last one is over. */
export interface ProblemReports {
  readonly hasAny: boolean
  /** @returns whether there was none of this part before */
  add(part: StatePart, problem: StateProblem): boolean
  /** The part works. */
  remove(part: StatePart): void
}

/** A closed connection is reported when so many in a row gave no other reason: one may be a restart, over at the next attempt. */
const maxUnexplained = 4

export function createProblemReports(log: Log, address: string): ProblemReports {
  const problems = new Map<StatePart, StateProblem>()
  let unexplained = 0
  let isReported = false
  let hasBeenReported = new Set<string>()

  return {
    get hasAny() {
      return problems.size > 0
    },
    add(part, problem) {
      const isFirst = !problems.has(part)
      const before = problems.get(part)
      const explains = problem.explains || isFirst
      if (explains) problems.set(part, problem)
      if (part === 'commands' && !problem.explains && !before?.explains) unexplained++
      const isNew = !hasBeenReported.has(problem.code)
      if (!isNew || (!problem.explains && (isReported || unexplained < maxUnexplained))) return isFirst
      hasBeenReported.add(problem.code)
      isReported = true
      log.warn(
        { code: problem.code, state: address },
        `The shared state at ${address} cannot be used: ${problem.message}. Until it can, this replica polls the servers that it polled, and serves the last known values of the others.`,
      )
      return isFirst
    },
    remove(part) {
      problems.delete(part)
      // Any command shows that the connection for commands works, and so does what it could not say of the others.
      if (part !== 'messages') problems.delete('commands')
      if (problems.size > 0) return
      unexplained = 0
      hasBeenReported = new Set()
      if (isReported) log.info({ state: address }, `The shared state at ${address} can be used again.`)
      isReported = false
    },
  }
}
