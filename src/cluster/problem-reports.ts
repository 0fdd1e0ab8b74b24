import type { Log } from '../util/log.ts'
import type { StateProblem } from './problem.ts'

/**
 * Purposes of commands; `commands` and `messages` stand for the two connections themselves. Reads are separate, because a server that is full
 * or a replica accepts them.
 */
export type StatePart = 'commands' | 'messages' | 'reads' | 'heartbeats' | 'snapshots' | 'locks'

/** Logs each problem with the shared state once, and when all are resolved. */
export interface ProblemReports {
  readonly hasAny: boolean
  /** @returns whether the part had no problem before */
  add(part: StatePart, problem: StateProblem): boolean
  /** The part works. */
  remove(part: StatePart): void
}

/** A closed connection is reported after this many consecutive ones without another reason: a single one may be a restart. */
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
        `The shared state at ${address} is unavailable: ${problem.message}. Until it is back, this replica continues to poll its servers and serves the last known values of the others; it polls those that would become unknown.`,
      )
      return isFirst
    },
    remove(part) {
      problems.delete(part)
      // Any successful command shows that the connection for commands works.
      if (part !== 'messages') problems.delete('commands')
      if (problems.size > 0) return
      unexplained = 0
      hasBeenReported = new Set()
      if (isReported) log.info({ state: address }, `The shared state at ${address} is available again.`)
      isReported = false
    },
  }
}
