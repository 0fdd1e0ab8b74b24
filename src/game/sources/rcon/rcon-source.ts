import type { AbortSignalLike } from '../../../util/abortable.ts'
import { formatHostPort } from '../../../util/address.ts'
import type { Clock } from '../../../util/clock.ts'
import { SourceError, type SourceErrorCode, toSourceError, withProgress } from '../../errors.ts'
import type { PhaseTimer } from '../../phases.ts'
import type { RconCommand } from '../../protocol/rcon/commands.ts'
import { MainThreadTracker } from '../main-thread-activity.ts'
import {
  type MainThreadActivity,
  type Measure,
  type Reading,
  type RestingCommand,
  type Source,
  type SourceContext,
  unmeasured,
} from '../source.ts'
import { ClosingServer } from './closing-server.ts'
import { CommandDuration } from './command-duration.ts'
import type { RconConnection } from './connection.ts'
import { CommandPlanner, logOnce } from './planner.ts'
import type { RconReply } from './reply-collector.ts'
import { RconSession, type RconSettings } from './session.ts'
import { logRest, UnansweredCommands } from './unanswered-commands.ts'

/** Used if the password was found in the server's directory. */
const discoveredPassword =
  'the password is the rcon.password that server.properties (MC_DIRECTORY) has now: has it changed since the server was started?'

/** Errors of a command that close the connection, while earlier replies stay valid. */
const partialFailures: ReadonlySet<SourceErrorCode> = new Set(['timeout', 'closed', 'malformed', 'too_large'])

/** The part of the time of a poll that a login may take without a first command being left to the next poll. */
const maxLoginShare = 0.1

/** A server with one tick per second answers a command within this many milliseconds. If it takes longer, the server is hung. */
const maxCommandMs = 1_000

/**
 * Reads a server by RCON commands, over one persistent connection. Only the commands in `protocol/rcon/commands.ts` are sent, at most
 * four per poll: some in every poll (ticks, players), the others in turn. If a command is not answered, the poll returns the
 * fields read before.
 */
export class RconSource implements Source {
  readonly name = 'rcon'
  readonly target: string
  readonly hints?: NonNullable<Source['hints']>
  readonly #clock: Clock
  readonly #phases: PhaseTimer | undefined
  readonly #measure: Measure
  readonly #session: RconSession
  readonly #unanswered: UnansweredCommands
  readonly #planner: CommandPlanner
  readonly #closing: ClosingServer
  readonly #duration = new CommandDuration()
  readonly #thread = new MainThreadTracker(maxCommandMs)
  #connection: RconConnection | undefined

  constructor(settings: RconSettings, context: SourceContext) {
    const { clock, log, discovered, measure = unmeasured } = context
    const target = formatHostPort(settings.address)
    this.target = target
    if (discovered?.includes('password')) this.hints = { auth: discoveredPassword }
    this.#clock = clock
    this.#measure = measure
    this.#phases = context.phases?.timer('rcon')
    this.#session = new RconSession(settings, context, this.#phases)
    this.#unanswered = new UnansweredCommands(logRest(log, target))
    this.#planner = new CommandPlanner(this.#unanswered, logOnce(log, target))
    this.#closing = new ClosingServer(clock, (text) => log.info({ source: 'rcon' }, `${target}: ${text}`))
  }

  async poll(signal: AbortSignalLike, deadlineAt = Number.POSITIVE_INFINITY): Promise<Reading> {
    const abort = () => this.#session.abort(toSourceError(signal.reason, this.target))
    signal.addEventListener('abort', abort)
    try {
      this.#phases?.start()
      const startedAt = this.#clock.now()
      const connection = await this.#session.connection(signal)
      await this.#sendCommands(connection, startedAt, signal, deadlineAt)
      const reading = this.#createReading()
      this.#phases?.end('read')
      return reading
    } catch (thrown) {
      const error = toSourceError(thrown, this.target)
      this.#thread.failed(error)
      if (error.code === 'auth') this.#session.rejected(error)
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  mainThread(): MainThreadActivity {
    return this.#thread.activity()
  }

  resting(): readonly RestingCommand[] {
    return this.#unanswered.resting(this.#clock.now())
  }

  close(): void {
    this.#session.close()
  }

  /**
   * Sends the commands of one poll.
   * @param startedAt monotonic milliseconds at which the poll started
   */
  async #sendCommands(opened: RconConnection, startedAt: number, signal: AbortSignalLike, deadlineAt: number): Promise<void> {
    const isNew = opened !== this.#connection
    // The server may have been updated, unless it closes each connection anyway.
    if (isNew && this.#connection !== undefined && !this.#closing.closesEach()) this.#planner.reconnected()
    this.#connection = opened
    const now = this.#clock.now()
    const planned = this.#planner.plan(now)
    // The next poll needs no login, and has more time. After a fast login it has not.
    const isSlowLogin = isNew && now - startedAt > maxLoginShare * (deadlineAt - startedAt)
    let answered = 0
    let longestMs = 0
    for (const one of planned) {
      const sentAt = this.#clock.now()
      // Otherwise the first command is always sent, so that the duration is measured again.
      if ((answered > 0 || isSlowLogin) && !this.#duration.fits(deadlineAt - sentAt)) break
      try {
        const reply = await this.#send(one.command, opened, signal)
        // A reply whose end was not marked has taken all the time until the deadline.
        this.#duration.measured((signal.aborted ? reply.at : this.#clock.now()) - sentAt)
        this.#thread.answered(sentAt, reply.at)
        this.#measure(() => this.#planner.take(one, reply))
      } catch (thrown) {
        const { code } = toSourceError(thrown, this.target)
        if (!partialFailures.has(code)) throw thrown
        const tookMs = this.#clock.now() - sentAt
        if (code === 'timeout') this.#duration.measured(tookMs)
        for (const unread of planned.slice(answered)) this.#planner.drop(unread)
        // If the other commands took most of the time, the server is slow.
        const isSlow = tookMs < 3 * longestMs
        if (answered === 0 || code !== 'timeout') this.#unanswered.suspect(one.command)
        else if (!isSlow) this.#unanswered.unanswered(one.command, this.#clock.now())
        if (answered === 0) {
          const error = withProgress(toSourceError(thrown, this.target), 'accepted')
          if (code === 'timeout') this.#thread.unanswered(sentAt, error)
          throw error
        }
        break
      }
      this.#unanswered.answered(one.command)
      answered++
      longestMs = Math.max(longestMs, this.#clock.now() - sentAt)
    }
    if (answered === 0) {
      const text = `${this.target}: the login took too long; no command was sent before the deadline`
      const error = new SourceError('timeout', text, { progress: 'accepted' })
      this.#thread.notSent(error)
      throw error
    }
  }

  /** Sends one command, over a new connection if the server closes each one after a reply. */
  async #send(command: RconCommand, opened: RconConnection, signal: AbortSignalLike): Promise<RconReply> {
    let connection = this.#connection ?? opened
    if (connection.replies > 0 && this.#closing.closesEach()) connection = await this.#reconnect(signal)
    try {
      const reply = await connection.request(command)
      if (connection.replies > 1) this.#closing.keptOpen()
      return reply
    } catch (error) {
      const isSpent = toSourceError(error, this.target).code === 'closed' && connection.replies === 1
      if (!isSpent) throw error
      this.#closing.closedAfterReply()
      connection = await this.#reconnect(signal)
      return connection.request(command)
    }
  }

  async #reconnect(signal: AbortSignalLike): Promise<RconConnection> {
    this.#connection?.close()
    this.#connection = await this.#session.connection(signal)
    return this.#connection
  }

  #createReading(): Reading {
    // A server that closes each connection is recognised by other means.
    const connection = this.#closing.closesEach() ? this.#closing : this.#connection
    return { source: 'rcon', at: this.#clock.now(), ...this.#planner.fields(), ...(connection && { connection }) }
  }
}
