import type { Log } from '../../../log.ts'
import type { RconCommand } from '../../protocol/rcon-commands.ts'
import { type BackoffOptions, backoffMs } from '../../watcher/backoff.ts'
import type { RestingCommand } from '../source.ts'

/** A command that is not answered costs the rest of the poll and the connection, so it is sent with a growing backoff. */
const pauses: BackoffOptions = { firstMs: 5_000, maxMs: 60_000 }

/** The commands that a server did not answer. Kept across connections, since each of them closes its connection. */
export interface UnansweredCommands {
  answered(command: RconCommand): void
  /** Records a failure whose reason may be the server or the network: the command is sent last in the next poll. */
  suspect(command: RconCommand): void
  /** Records a timeout after other commands were answered. After the second consecutive one, the command is not sent for a while. */
  unanswered(command: RconCommand, now: number): void
  /** Returns true while the command must not be sent. */
  isResting(command: RconCommand, now: number): boolean
  resting(now: number): readonly RestingCommand[]
  /** Moves suspected commands to the end, so that a hanging command does not affect the others. */
  suspectsLast<T extends { readonly command: RconCommand }>(commands: readonly T[]): readonly T[]
}

const noCommands: readonly RestingCommand[] = []

/** @param onRest called once per command, when it is suspended for the first time */
export function createUnansweredCommands(onRest: (command: RconCommand) => void): UnansweredCommands {
  const reported = new Set<RconCommand>()
  /** By command, in order of suspicion, the newest last. */
  const suspects = new Map<RconCommand, { failures: number; restUntil: number }>()

  function suspect(command: RconCommand) {
    const state = suspects.get(command) ?? { failures: 0, restUntil: Number.NEGATIVE_INFINITY }
    suspects.delete(command)
    suspects.set(command, state)
    return state
  }

  return {
    answered: (command) => void suspects.delete(command),
    suspect,
    unanswered(command, now) {
      // A single failure is more likely caused by the server or the network, which may have stalled during the poll.
      const isFirst = !suspects.has(command)
      const state = suspect(command)
      if (isFirst) return
      state.failures++
      state.restUntil = now + backoffMs(state.failures, pauses)
      if (reported.has(command)) return
      reported.add(command)
      onRest(command)
    },
    isResting: (command, now) => now < (suspects.get(command)?.restUntil ?? Number.NEGATIVE_INFINITY),
    resting(now) {
      if (suspects.size === 0) return noCommands
      return [...suspects].flatMap(([command, { restUntil }]) => (now < restUntil ? { command, until: restUntil } : []))
    },
    suspectsLast(commands) {
      if (suspects.size === 0) return commands
      const order = [...suspects.keys()]
      return commands.toSorted((a, b) => order.indexOf(a.command) - order.indexOf(b.command))
    },
  }
}

/** Logs a command that is suspended. */
export const logRest =
  (log: Log, server: string) =>
  (command: RconCommand): void => {
    const seconds = pauses.maxMs / 1_000
    const text = `${server}: "${command}" is not answered while other commands are; it is sent less often, at least every ${seconds} s`
    log.warn({ source: 'rcon', command }, text)
  }
