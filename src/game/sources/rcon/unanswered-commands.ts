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
  /** Commands with a higher rank are sent later in a poll, so that a hanging command does not affect the others. */
  rank(command: RconCommand): number
}

/** @param onRest called once per command, when it is suspended for the first time */
export function createUnansweredCommands(onRest: (command: RconCommand) => void): UnansweredCommands {
  const reported = new Set<RconCommand>()
  const failures = new Map<RconCommand, number>()
  /** In order of suspicion, the newest last. */
  const suspected = new Set<RconCommand>()
  const restUntil = new Map<RconCommand, number>()

  function suspect(command: RconCommand): void {
    suspected.delete(command)
    suspected.add(command)
  }

  const isResting = (command: RconCommand, now: number) => now < (restUntil.get(command) ?? Number.NEGATIVE_INFINITY)

  return {
    answered(command) {
      suspected.delete(command)
      failures.delete(command)
      restUntil.delete(command)
    },
    suspect,
    unanswered(command, now) {
      // A single failure is more likely caused by the server or the network, which may have stalled during the poll.
      const isFirst = !suspected.has(command)
      suspect(command)
      if (isFirst) return
      const count = (failures.get(command) ?? 0) + 1
      failures.set(command, count)
      restUntil.set(command, now + backoffMs(count, pauses))
      if (reported.has(command)) return
      reported.add(command)
      onRest(command)
    },
    isResting,
    resting: (now) =>
      [...restUntil].filter(([command]) => isResting(command, now)).map(([command, until]) => ({ command, until })),
    rank: (command) => [...suspected].indexOf(command),
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
