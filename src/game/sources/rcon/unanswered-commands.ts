import { type BackoffOptions, backoffMs } from '../../../util/backoff.ts'
import type { Log } from '../../../util/log.ts'
import type { RconCommand } from '../../protocol/rcon/commands.ts'
import type { RestingCommand } from '../source.ts'

/** A command that is not answered costs the rest of the poll and the connection, so it is sent with a growing backoff. */
const pauses: BackoffOptions = { firstMs: 5_000, maxMs: 60_000 }

const noCommands: readonly RestingCommand[] = []

interface Suspicion {
  failures: number
  /** Monotonic milliseconds. */
  restUntil: number
}

/**
 * The commands that a server did not answer. Kept across connections, since each of them closes its connection.
 * @param onRest called once per command, when it first rests
 */
export class UnansweredCommands {
  readonly #onRest: (command: RconCommand) => void
  /** By command, in order of suspicion, the newest last. Created for the first one: most servers answer every command. */
  #suspects: Map<RconCommand, Suspicion> | undefined
  #reported: Set<RconCommand> | undefined

  constructor(onRest: (command: RconCommand) => void) {
    this.#onRest = onRest
  }

  answered(command: RconCommand): void {
    this.#suspects?.delete(command)
  }

  /** Records a failure whose reason may be the server or the network: the command is sent last in the next poll. */
  suspect(command: RconCommand): Suspicion {
    this.#suspects ??= new Map()
    const state = this.#suspects.get(command) ?? { failures: 0, restUntil: Number.NEGATIVE_INFINITY }
    this.#suspects.delete(command)
    this.#suspects.set(command, state)
    return state
  }

  /** Records a timeout after other commands were answered. After the second consecutive one, the command is not sent for a while. */
  unanswered(command: RconCommand, now: number): void {
    // A single failure is more likely caused by the server or the network, which may have stalled during the poll.
    const isFirst = !this.#suspects?.has(command)
    const state = this.suspect(command)
    if (isFirst) return
    state.failures++
    state.restUntil = now + backoffMs(state.failures, pauses)
    this.#reported ??= new Set()
    if (this.#reported.has(command)) return
    this.#reported.add(command)
    this.#onRest(command)
  }

  /** Returns true while the command must not be sent. */
  isResting(command: RconCommand, now: number): boolean {
    return now < (this.#suspects?.get(command)?.restUntil ?? Number.NEGATIVE_INFINITY)
  }

  resting(now: number): readonly RestingCommand[] {
    if (this.#suspects === undefined || this.#suspects.size === 0) return noCommands
    return [...this.#suspects].flatMap(([command, { restUntil }]) => (now < restUntil ? { command, until: restUntil } : []))
  }

  /** Moves suspected commands to the end, so that a hanging command does not affect the others. */
  suspectsLast<T extends { readonly command: RconCommand }>(commands: readonly T[]): readonly T[] {
    if (this.#suspects === undefined || this.#suspects.size === 0) return commands
    const order = [...this.#suspects.keys()]
    return commands.toSorted((a, b) => order.indexOf(a.command) - order.indexOf(b.command))
  }
}

/** Logs a command that rests. */
export const logRest =
  (log: Log, server: string) =>
  (command: RconCommand): void => {
    const seconds = pauses.maxMs / 1_000
    const text = `${server}: "${command}" is not answered while other commands are; it is sent less often, at least every ${seconds} s`
    log.warn({ source: 'rcon', command }, text)
  }
