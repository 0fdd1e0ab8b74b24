import type { Log } from '../../../util/log.ts'
import type { FieldName, Fields } from '../../fields.ts'
import type { RconCommand } from '../../protocol/rcon/commands.ts'
import { isUnknownCommand, plainReply } from '../../protocol/rcon/reply.ts'
import { parseGameTime, type TimeForm } from '../../protocol/rcon/time-query.ts'
import { truncate } from '../../protocol/text.ts'
import type { FieldTimes } from '../source.ts'
import { type CommandReader, commandReaders, type ServerTraits } from './command-readers.ts'
import { type CommandState, createCommandState, isPaused, missed, noFields, overdueMs, pauseMs } from './command-state.ts'
import type { RconReply } from './reply-collector.ts'
import type { UnansweredCommands } from './unanswered-commands.ts'

/** Maximum number of commands per poll: they run on the server's main thread. */
const maxCommands = 4
/** Characters of a reply in the log. */
const maxLogged = 200

export interface PlannedCommand {
  readonly command: RconCommand
  readonly state: CommandState
}

/** The fields of a `Reading` with their times. New objects, to which the caller may add fields. */
export interface RconFields {
  readonly fields: { -readonly [K in FieldName]?: Fields[K] }
  readonly readAt: { [K in FieldName]?: number }
  readonly readEvery: FieldTimes
}

/** Decides which commands a poll sends, and keeps their last replies, since not every command is sent in every poll. */
export class CommandPlanner {
  readonly #unanswered: UnansweredCommands
  readonly #notUnderstood: (command: RconCommand, text: string) => void
  readonly #states: readonly CommandState[] = commandReaders.map(createCommandState)
  #timeForm: TimeForm | undefined
  /** Monotonic milliseconds of the last plan. */
  #plannedAt: number | undefined
  /** Milliseconds between polls: the shorter of the last two intervals, so that an outage is ignored. */
  #pollEvery = 0
  #lastGap = Number.POSITIVE_INFINITY
  /** Milliseconds until all commands that are not sent in every poll had their turn. */
  #turnMs = 0

  /** @param notUnderstood called with the start of a reply that is neither understood nor the error for an unknown command */
  constructor(unanswered: UnansweredCommands, notUnderstood: (command: RconCommand, text: string) => void) {
    this.#unanswered = unanswered
    this.#notUnderstood = notUnderstood
  }

  /** Returns the commands of this poll in order, at least one, at most `maxCommands`. */
  plan(now: number): readonly PlannedCommand[] {
    this.#measureInterval(now)
    const planned: PlannedCommand[] = []
    const others: PlannedCommand[] = []
    const usable = this.#usable(now)
    this.#turnMs = this.#turnOf(usable)
    for (const one of usable) {
      if (now - one.state.plannedAt < pauseMs(one.state)) continue
      if (one.state.reader.isInEveryPoll) planned.push(one)
      else others.push(one)
    }
    // The most overdue command comes first, so that all have their turn.
    others.sort((a, b) => overdueMs(b.state, now) - overdueMs(a.state, now))
    for (const one of others) if (planned.length < maxCommands) planned.push(one)
    // A poll must send at least one command: even an unknown command is answered, and shows that the server works.
    const [state] = this.#states
    const [command] = state?.reader.commands ?? []
    if (planned.length === 0 && state !== undefined && command !== undefined) planned.push({ command, state })
    return this.#unanswered.suspectsLast(planned)
  }

  /** Takes the reply to a command of the last plan. */
  take({ command, state }: PlannedCommand, { text, at }: RconReply): void {
    if (this.#plannedAt !== undefined) state.plannedAt = this.#plannedAt
    if (text === state.text) {
      state.readAt = at
      return
    }
    const plain = plainReply(text)
    const read = state.reader.read(plain, at)
    state.fields = read ?? noFields
    state.readAt = at
    state.text = read !== undefined && state.reader.isOftenUnchanged ? text : undefined
    const index = state.reader.commands.indexOf(command)
    if (read !== undefined) {
      state.learned = true
      state.choice = index
      state.misses = 0
      state.notUnderstood = undefined
      state.unsupported = 0
      if (state.reader.name === 'gameTime') this.#useTimeForm(parseGameTime(plain)?.form)
      return
    }
    if (!isUnknownCommand(plain)) state.notUnderstood ??= { command, text: truncate(plain, maxLogged) }
    // Reported once no other form of the command is left: a plugin may have replaced only this one.
    const isLast = state.learned || index + 1 === state.reader.commands.length
    if (isLast && state.notUnderstood !== undefined) this.#notUnderstood(state.notUnderstood.command, state.notUnderstood.text)
    missed(state, index)
  }

  /** Drops the fields of earlier replies to a command, because it was not answered. */
  drop({ state }: PlannedCommand): void {
    state.fields = noFields
    state.text = undefined
  }

  /** Tries all commands again, because the server may have been replaced or updated. Fields keep their times. */
  reconnected(): void {
    for (const state of this.#states) {
      const { reader, fields, readAt } = state
      Object.assign(state, createCommandState(reader), { fields, readAt })
    }
  }

  /** Returns the fields of the last reply to every command, except those that were dropped. */
  fields(): RconFields {
    const fields: { [K in FieldName]?: unknown } = {}
    const readAt: { [K in FieldName]?: number } = {}
    const readEvery: { [K in FieldName]?: number } = {}
    for (const state of this.#states) {
      for (const key in state.fields) {
        const name = key as FieldName
        // If two commands provide the same field, the earlier one in the list wins.
        if (name in fields) continue
        fields[name] = state.fields[name]
        readAt[name] = state.readAt
        if (!state.reader.isInEveryPoll) readEvery[name] = Math.max(state.reader.intervalMs, this.#turnMs)
      }
    }
    return { fields: fields as RconFields['fields'], readAt, readEvery }
  }

  /** Drops what was read by the commands of another form, which are not sent any more: the server was updated. */
  #useTimeForm(form: TimeForm | undefined): void {
    if (form === this.#timeForm) return
    this.#timeForm = form
    // Only the form may rule a command out.
    const traits = { timeForm: form, withoutTickQuery: true, withoutTps: true }
    for (const state of this.#states) if (state.reader.when?.(traits) === false) state.fields = noFields
  }

  #measureInterval(now: number): void {
    if (this.#plannedAt !== undefined) {
      const gap = now - this.#plannedAt
      this.#pollEvery = Math.min(this.#lastGap, gap)
      this.#lastGap = gap
    }
    this.#plannedAt = now
  }

  /** Returns the commands that the server may support and answer. */
  #usable(now: number): readonly PlannedCommand[] {
    const traits = this.#traits(now)
    const usable: PlannedCommand[] = []
    for (const state of this.#states) {
      const command = this.#commandOf(state, now)
      if (command !== undefined && (state.reader.when?.(traits) ?? true)) usable.push({ command, state })
    }
    return usable
  }

  #traits(now: number): ServerTraits {
    const ticks = this.#find('ticks')
    const tps = this.#find('tps')
    return {
      timeForm: this.#timeForm,
      withoutTickQuery: ticks !== undefined && (ticks.unsupported > 0 || this.#commandOf(ticks, now) === undefined),
      withoutTps: tps !== undefined && tps.unsupported > 0 && !tps.learned,
    }
  }

  #find(name: CommandReader['name']): CommandState | undefined {
    return this.#states.find(({ reader }) => reader.name === name)
  }

  #commandOf(state: CommandState, now: number): RconCommand | undefined {
    if (isPaused(state, now)) return undefined
    const { reader, choice } = state
    for (let index = choice; index < reader.commands.length; index++) {
      const command = reader.commands[index]
      if (command !== undefined && !this.#unanswered.isResting(command, now)) return command
    }
    return undefined
  }

  /** Returns the milliseconds until all of these commands that are not sent in every poll had their turn. */
  #turnOf(usable: readonly PlannedCommand[]): number {
    const others = usable.filter(({ state }) => !state.reader.isInEveryPoll).length
    const slots = Math.max(1, maxCommands - (usable.length - others))
    return Math.ceil(others / slots) * this.#pollEvery
  }
}

/** Logs a reply that was not understood, once per command. */
export function logOnce(log: Log, server: string): (command: RconCommand, text: string) => void {
  /** Created for the first reply: most servers send none. */
  let seen: Set<RconCommand> | undefined
  return (command, text) => {
    seen ??= new Set()
    if (seen.has(command)) return
    seen.add(command)
    log.warn({ source: 'rcon', command }, `${server}: the reply to "${command}" is not understood: ${JSON.stringify(text)}`)
  }
}
