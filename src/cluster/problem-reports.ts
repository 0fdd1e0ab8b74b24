import type { Log } from '../util/log.ts'
import type { StateProblem } from './problem.ts'

/**
 * Purposes of commands; `commands` and `messages` stand for the two connections themselves. Reads are separate, because a server that is full
 * or a replica accepts them.
 */
export type StatePart = 'commands' | 'messages' | 'reads' | 'heartbeats' | 'snapshots' | 'locks'

/** A closed connection is reported after this many consecutive ones without another reason: a single one may be a restart. */
const maxUnexplained = 4

/** Logs each problem with the shared state once, and when all are resolved. */
export class ProblemReports {
  readonly #log: Log
  readonly #address: string
  readonly #problems = new Map<StatePart, StateProblem>()
  /** Codes of those that were logged. */
  readonly #reported = new Set<string>()
  #unexplained = 0

  constructor(log: Log, address: string) {
    this.#log = log
    this.#address = address
  }

  get hasAny(): boolean {
    return this.#problems.size > 0
  }

  of(part: StatePart): StateProblem | undefined {
    return this.#problems.get(part)
  }

  add(part: StatePart, problem: StateProblem): void {
    const before = this.#problems.get(part)
    if (problem.explains || before === undefined) this.#problems.set(part, problem)
    if (part === 'commands' && !problem.explains && !before?.explains) this.#unexplained++
    const isEnough = problem.explains || (this.#reported.size === 0 && this.#unexplained >= maxUnexplained)
    if (this.#reported.has(problem.code) || !isEnough) return
    this.#reported.add(problem.code)
    this.#log.warn(
      { code: problem.code, state: this.#address },
      `The shared state at ${this.#address} is unavailable: ${problem.message}. Until it is back, this replica continues to poll its servers and serves the last known values of the others; it polls those that would become unknown.`,
    )
  }

  /** The part works. */
  remove(part: StatePart): void {
    this.#problems.delete(part)
    // Any successful command shows that the connection for commands works.
    if (part !== 'messages') this.#problems.delete('commands')
    if (this.hasAny) return
    this.#unexplained = 0
    if (this.#reported.size > 0)
      this.#log.info({ state: this.#address }, `The shared state at ${this.#address} is available again.`)
    this.#reported.clear()
  }
}
