import type { Log } from '../../../log.ts'
import type { RconCommand } from '../../protocol/rcon-commands.ts'
import { type BackoffOptions, backoffMs } from '../../watcher/backoff.ts'
import type { RestingCommand } from '../source.ts'

/** A command that is not answered costs the rest of the poll and the connection, so it is sent less and less often. */
const pauses: BackoffOptions = { firstMs: 5_000, maxMs: 60_000 }

/** The commands that a server did not answer. They outlive the connection, since each of them closes the one it was sent over. */
export interface UnansweredCommands {
  answered(command: RconCommand): void
  /** It failed, but the reason may be the whole server or the line: it is sent last in the next poll. */
  suspect(command: RconCommand): void
  /** The deadline passed over an open connection on which other commands had been answered. It rests after the second time in a row. */
  unanswered(command: RconCommand, now: number): void
  /** True: it is not sent now. */
  isResting(command: RconCommand, now: number): boolean
  resting(now: number): readonly RestingCommand[]
  /** The higher, the later in a poll, so that what may hang takes nothing else along. */
  rank(command: RconCommand): number
}

/** @param onRest called with each command once, when it rests for the first time */
export function createUnansweredCommands(onRest: (command: RconCommand) => void): UnansweredCommands {
  const reported = new Set<RconCommand>()
  const failures = new Map<RconCommand, number>()
  /** The newest last. */
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
      // A single failure is more likely that of the server or the line, which may have stalled in the middle of a poll.
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

/** Logs a command that rests. */
export const logRest =
  (log: Log, server: string) =>
  (command: RconCommand): void => {
    const seconds = pauses.maxMs / 1_000
    const text = `${server}: "${command}" is not answered while other commands are; it is sent less often, at least every ${seconds} s`
    log.warn({ source: 'rcon', command }, text)
  }
