import type { Log } from '../../../log.ts'
import type { RconCommand } from '../../protocol/rcon-commands.ts'

/** Each try of a command that is left unanswered costs the rest of a poll and the connection. Milliseconds. */
const restOfUnanswered = 600_000

/** The commands that a server leaves unanswered: known across connections, since each of them ends the one it was sent over. */
export interface RconSilence {
  answered(command: RconCommand): void
  /** Nothing was answered, so it may be the whole server: the command comes last the next time. */
  doubt(command: RconCommand): void
  /** It was not answered after others were. */
  unanswered(command: RconCommand, now: number): void
  /** True: it is not asked now. */
  rests(command: RconCommand, now: number): boolean
  /** The higher, the later in a poll, so that what may hang takes nothing else along. */
  rank(command: RconCommand): number
}

/** @param tell told each command once, when it comes to rest */
export function createRconSilence(tell: (command: RconCommand) => void): RconSilence {
  const told = new Set<RconCommand>()
  /** Answered before: one silence of these is more likely the server's, and they are given another chance. */
  const trusted = new Set<RconCommand>()
  /** From when on each may be asked again, the newest doubt last. */
  const doubted = new Map<RconCommand, number>()
  const doubt = (command: RconCommand, until = Number.NEGATIVE_INFINITY) => {
    doubted.delete(command)
    doubted.set(command, until)
  }
  return {
    answered(command) {
      trusted.add(command)
      doubted.delete(command)
    },
    doubt: (command) => doubt(command),
    unanswered(command, now) {
      if (trusted.delete(command)) return doubt(command)
      doubt(command, now + restOfUnanswered)
      if (told.has(command)) return
      told.add(command)
      tell(command)
    },
    rests: (command, now) => now < (doubted.get(command) ?? Number.NEGATIVE_INFINITY),
    rank: (command) => [...doubted.keys()].indexOf(command),
  }
}

/** Logs what a command that comes to rest means for whoever runs the server. */
export const logSilence =
  (log: Log, server: string) =>
  (command: RconCommand): void => {
    const minutes = restOfUnanswered / 60_000
    const text = `${server}: "${command}" gets no answer, the other commands do; it is asked again every ${minutes} minutes only`
    log.warn({ source: 'rcon', command }, text)
  }
