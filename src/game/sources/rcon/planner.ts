import type { Log } from '../../../log.ts'
import type { FieldName, Fields } from '../../fields.ts'
import type { RconCommand } from '../../protocol/rcon-commands.ts'
import { isUnknownCommand, plainReply } from '../../protocol/rcon-reply.ts'
import { parseGameTime, type TimeForm } from '../../protocol/time-query.ts'
import type { FieldTimes } from '../source.ts'
import { type CommandReader, commandReaders, type ServerTraits } from './command-readers.ts'
import type { RconReply } from './reply-collector.ts'
import type { UnansweredCommands } from './unanswered-commands.ts'

/** Maximum number of commands per poll: they run on the server's main thread. */
const maxCommands = 4
/** Number of consecutive replies that were not understood, after which a command is sent less often. */
const maxMisses = 3
const rareIntervalMs = 60_000

interface State {
  readonly reader: CommandReader
  /** Index of the first command that the server may support; past the last one, it supports none. */
  choice: number
  /** A reply to the command was understood. */
  learned: boolean
  misses: number
  /** Monotonic milliseconds of the last plan in which the command was answered. */
  plannedAt: number
  fields: Partial<Fields>
  /** Monotonic milliseconds at which the fields were read. */
  readAt: number
}

export interface PlannedCommand {
  readonly command: RconCommand
  /** Returns the fields in the reply; none if it is not understood. */
  take(reply: RconReply): Partial<Fields>
  /** Drops the fields of earlier replies, because the command was not answered. */
  drop(): void
}

/** The fields of a `Reading` with their times. */
export interface RconFields {
  readonly fields: Partial<Fields>
  readonly readAt: FieldTimes
  readonly readEvery: FieldTimes
}

/** Decides which commands a poll sends, and keeps their last replies, since not every command is sent in every poll. */
export interface CommandPlanner {
  /** Returns the commands of this poll in order, at most `maxCommands`. */
  plan(now: number): readonly PlannedCommand[]
  /** Tries all commands again, because the server may have been replaced or updated. Fields keep their times. */
  reconnected(): void
  /** Returns the fields of the last reply to every command, except those that were dropped. */
  fields(): RconFields
}

/** @param notUnderstood called with a reply that is neither understood nor the error for an unknown command */
export function createCommandPlanner(
  unanswered: UnansweredCommands,
  notUnderstood: (command: RconCommand, text: string) => void,
): CommandPlanner {
  let timeForm: TimeForm | undefined
  let plannedAt: number | undefined
  /** Milliseconds between polls: the shorter of the last two intervals, so that an outage is ignored. */
  let pollEvery = 0
  let lastGap = Number.POSITIVE_INFINITY
  const states: readonly State[] = commandReaders.map((reader) => ({
    reader,
    choice: 0,
    learned: false,
    misses: 0,
    plannedAt: Number.NEGATIVE_INFINITY,
    fields: {},
    readAt: 0,
  }))
  const isUseful = ({ reader }: State, traits: ServerTraits) => reader.when?.(traits) ?? true
  const commandOf = ({ reader, choice }: State, now: number): RconCommand | undefined =>
    reader.commands.find((command, index) => index >= choice && !unanswered.isResting(command, now))

  function traitsOf(now: number): ServerTraits {
    const find = (name: CommandReader['name']) => states.find(({ reader }) => reader.name === name)
    const ticks = find('ticks')
    return {
      timeForm,
      withoutTickQuery: ticks !== undefined && commandOf(ticks, now) === undefined,
      withTps: find('tps')?.learned === true,
    }
  }

  function take(state: State, command: RconCommand, { text, at }: RconReply): Partial<Fields> {
    const plain = plainReply(text)
    const read = state.reader.read(plain, at)
    state.fields = read ?? {}
    state.readAt = at
    const index = state.reader.commands.indexOf(command)
    if (read !== undefined) {
      state.learned = true
      state.choice = index
      state.misses = 0
      if (state.reader.name === 'gameTime') timeForm = parseGameTime(plain)?.form
      return read
    }
    const unknown = isUnknownCommand(plain)
    if (!unknown) notUnderstood(command, plain)
    // A command that was understood once is kept, since another RCON client may have mixed its replies into this one.
    const hasOther = index + 1 < state.reader.commands.length
    if (unknown || (!state.learned && hasOther)) state.choice = index + 1
    else state.misses++
    return {}
  }

  /** Returns the milliseconds between two reads of a command: its own interval, or the time until all others had their turn. */
  function readEvery({ reader }: State, now: number): number {
    const traits = traitsOf(now)
    const usable = states.filter((state) => isUseful(state, traits) && commandOf(state, now) !== undefined)
    const others = usable.filter((state) => !isInEveryPoll(state)).length
    const slots = Math.max(1, maxCommands - (usable.length - others))
    return Math.max(reader.intervalMs, Math.ceil(others / slots) * pollEvery)
  }

  return {
    plan(now) {
      if (plannedAt !== undefined) {
        pollEvery = Math.min(lastGap, now - plannedAt)
        lastGap = now - plannedAt
      }
      plannedAt = now
      const traits = traitsOf(now)
      const pause = ({ reader, misses }: State) =>
        misses >= maxMisses ? Math.max(rareIntervalMs, reader.intervalMs) : reader.intervalMs
      const due = states.filter(
        (state) => commandOf(state, now) !== undefined && isUseful(state, traits) && now - state.plannedAt >= pause(state),
      )
      // The most overdue command comes first, so that all have their turn.
      const others = due.filter((state) => !isInEveryPoll(state)).sort((a, b) => overdueMs(b, now) - overdueMs(a, now))
      const sendable = [...due.filter(isInEveryPoll), ...others].slice(0, maxCommands).flatMap((state) => {
        const command = commandOf(state, now)
        return command === undefined ? [] : [{ state, command }]
      })
      // A poll must send at least one command: even an unknown command is answered, and shows that the server works.
      const first = states
        .slice(0, 1)
        .flatMap((state) => state.reader.commands.slice(0, 1).map((command) => ({ state, command })))
      return (sendable.length > 0 ? sendable : first)
        .sort((a, b) => unanswered.rank(a.command) - unanswered.rank(b.command))
        .map(({ state, command }) => ({
          command,
          take(reply: RconReply) {
            state.plannedAt = now
            return take(state, command, reply)
          },
          drop() {
            state.fields = {}
          },
        }))
    },
    reconnected() {
      for (const state of states) {
        state.choice = 0
        state.learned = false
        state.misses = 0
        state.plannedAt = Number.NEGATIVE_INFINITY
      }
    },
    fields() {
      const now = plannedAt ?? 0
      const fields: Partial<Fields> = {}
      const readAt: { [K in FieldName]?: number } = {}
      const every: { [K in FieldName]?: number } = {}
      // If two commands provide the same field, the earlier one in the list wins.
      for (const state of states.toReversed()) {
        Object.assign(fields, state.fields)
        for (const name of Object.keys(state.fields) as FieldName[]) {
          readAt[name] = state.readAt
          if (isInEveryPoll(state)) delete every[name]
          else every[name] = readEvery(state, now)
        }
      }
      return { fields, readAt, readEvery: every }
    },
  }
}

/** Sent first in every poll, since ticks and players change fastest. */
const inEveryPoll: ReadonlySet<CommandReader['name']> = new Set(['gameTime', 'players', 'ticks'])

const isInEveryPoll = ({ reader }: State): boolean => inEveryPoll.has(reader.name)

function overdueMs({ plannedAt, reader }: State, now: number): number {
  return plannedAt === Number.NEGATIVE_INFINITY ? Number.MAX_VALUE : now - plannedAt - reader.intervalMs
}

/** Logs a reply that was not understood, once per command and truncated. */
export function logOnce(log: Log, server: string): (command: RconCommand, text: string) => void {
  const seen = new Set<RconCommand>()
  return (command, text) => {
    if (seen.has(command)) return
    seen.add(command)
    const shown = JSON.stringify(text.slice(0, 200))
    log.warn({ source: 'rcon', command }, `${server}: the reply to "${command}" is not understood: ${shown}`)
  }
}
