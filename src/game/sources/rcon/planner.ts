import type { Log } from '../../../log.ts'
import type { Fields } from '../../fields.ts'
import type { RconCommand } from '../../protocol/rcon-commands.ts'
import { isUnknownCommand, plainReply } from '../../protocol/rcon-reply.ts'
import { parseGameTime, type TimeForm } from '../../protocol/time-query.ts'
import type { RconReply } from './connection.ts'
import { type Known, type Question, questions } from './questions.ts'
import type { RconSilence } from './unanswered-commands.ts'

/** A command runs on the server's main thread: a poll asks for no more than these. */
const maxCommands = 4
/** After so many texts in a row that were not understood, a command is asked less often. */
const patience = 3
const rarely = 60_000

interface State {
  readonly question: Question
  /** Which of its commands is asked; past the last one, the server knows none. */
  choice: number
  /** The server has understood it, and was understood. */
  learned: boolean
  misses: number
  askedAt: number
  fields: Partial<Fields>
}

export interface Asked {
  readonly command: RconCommand
  /** @returns what the reply tells, nothing where it was not understood */
  take(reply: RconReply): Partial<Fields>
}

/** What was learned over one connection: which commands the server has, and what it answered last. */
export interface RconMemory {
  /** The questions of this poll, at most `maxCommands`. */
  plan(now: number): readonly Asked[]
  /** The last answers of every question; none of one that was planned and not answered since. */
  fields(): Partial<Fields>
}

/**
 * @param silence what the server left unanswered, over this connection and those before
 * @param notUnderstood told a reply that is neither understood nor an unknown command
 */
export function createRconMemory(silence: RconSilence, notUnderstood: (command: RconCommand, text: string) => void): RconMemory {
  let timeForm: TimeForm | undefined
  const states: readonly State[] = questions.map((question) => ({
    question,
    choice: 0,
    learned: false,
    misses: 0,
    askedAt: Number.NEGATIVE_INFINITY,
    fields: {},
  }))
  const commandOf = ({ question, choice }: State, now: number): RconCommand | undefined =>
    question.commands.find((command, index) => index >= choice && !silence.rests(command, now))

  function known(now: number): Known {
    const find = (name: Question['name']) => states.find(({ question }) => question.name === name)
    const ticks = find('ticks')
    return {
      timeForm,
      withoutTickQuery: ticks !== undefined && commandOf(ticks, now) === undefined,
      withTps: find('tps')?.learned === true,
    }
  }

  function take(state: State, command: RconCommand, { text, at }: RconReply): Partial<Fields> {
    const plain = plainReply(text)
    const read = state.question.read(plain, at)
    state.fields = read ?? {}
    const index = state.question.commands.indexOf(command)
    if (read !== undefined) {
      state.learned = true
      state.choice = index
      state.misses = 0
      if (state.question.name === 'gameTime') timeForm = parseGameTime(plain)?.form
      return read
    }
    const unknown = isUnknownCommand(plain)
    if (!unknown) notUnderstood(command, plain)
    // What was understood once stays the right command, whatever another RCON client mixed into one reply.
    const hasOther = index + 1 < state.question.commands.length
    if (unknown || (!state.learned && hasOther)) state.choice = index + 1
    else state.misses++
    return {}
  }

  return {
    plan(now) {
      const what = known(now)
      const pause = ({ question, misses }: State) => (misses >= patience ? Math.max(rarely, question.every) : question.every)
      const due = states.filter((state) => {
        if (commandOf(state, now) === undefined || !(state.question.when?.(what) ?? true)) return false
        return now - state.askedAt >= pause(state)
      })
      const always = due.filter(({ question }) => alwaysAsked.has(question.name))
      // The one that has waited longest beyond its time comes first, so that all have their turn.
      const others = due
        .filter(({ question }) => !alwaysAsked.has(question.name))
        .sort((a, b) => overdue(b, now) - overdue(a, now))
      return [...always, ...others]
        .slice(0, maxCommands)
        .flatMap((state) => {
          const command = commandOf(state, now)
          return command === undefined ? [] : [{ state, command }]
        })
        .sort((a, b) => silence.rank(a.command) - silence.rank(b.command))
        .map(({ state, command }) => {
          state.fields = {}
          return {
            command,
            take(reply: RconReply) {
              state.askedAt = now
              return take(state, command, reply)
            },
          }
        })
    },
    fields: () => Object.assign({}, ...states.map(({ fields }) => fields).reverse()) as Partial<Fields>,
  }
}

const alwaysAsked: ReadonlySet<Question['name']> = new Set(['ticks', 'gameTime', 'players'])

function overdue({ askedAt, question }: State, now: number): number {
  return askedAt === Number.NEGATIVE_INFINITY ? Number.MAX_VALUE : now - askedAt - question.every
}

/** Logs a text once for each command, cut: what a server answers is nobody's secret, but may be long. */
export function logOnce(log: Log, server: string): (command: RconCommand, text: string) => void {
  const seen = new Set<RconCommand>()
  return (command, text) => {
    if (seen.has(command)) return
    seen.add(command)
    const shown = JSON.stringify(text.slice(0, 200))
    log.warn({ source: 'rcon', command }, `${server}: the reply to "${command}" is not understood: ${shown}`)
  }
}
