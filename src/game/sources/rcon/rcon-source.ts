import { toAbortSignal } from '../../../abortable.ts'
import { SourceError, type SourceErrorCode, toSourceError, withProgress } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { formatHostPort } from '../../protocol/address.ts'
import type { RconCommand } from '../../protocol/rcon-commands.ts'
import { createMainThreadTracker } from '../main-thread-activity.ts'
import type { Reading, Source, SourceContext } from '../source.ts'
import { createClosingServer } from './closing-server.ts'
import { createCommandDuration } from './command-duration.ts'
import type { RconConnection } from './connection.ts'
import { createCommandPlanner, logOnce } from './planner.ts'
import type { RconReply } from './reply-collector.ts'
import { createRconSession, type RconSettings } from './session.ts'
import { createTickRate, type TickRate } from './tick-rate.ts'
import { createUnansweredCommands, logRest } from './unanswered-commands.ts'

/** Used if the password was found in the server's directory. */
const discoveredPassword =
  'the password is the rcon.password that server.properties (MC_DIRECTORY) has now: has it changed since the server was started?'

/** Errors of a command that close the connection, while earlier replies stay valid. */
const partialFailures: ReadonlySet<SourceErrorCode> = new Set(['timeout', 'closed', 'malformed', 'too_large'])

/** A server with one tick per second answers a command within this many milliseconds. If it takes longer, the server is hung. */
const maxCommandMs = 1_000

/**
 * Reads a server by RCON commands, over one persistent connection. Only the commands in `protocol/rcon-commands.ts` are sent, at most
 * four per poll: some in every poll (ticks, players), the others in turn. If a command is not answered, the poll returns the
 * fields read before.
 */
export function createRconSource(settings: RconSettings, context: SourceContext): Source {
  const { clock, log } = context
  const target = formatHostPort(settings.address)
  const phases = context.phases?.timer('rcon')
  const session = createRconSession(settings, context, phases)
  const unanswered = createUnansweredCommands(logRest(log, target))
  const planner = createCommandPlanner(unanswered, logOnce(log, target))
  const duration = createCommandDuration()
  let measureTickRate = createTickRate()
  const thread = createMainThreadTracker()
  let lastConnection: RconConnection | undefined
  const closing = createClosingServer(clock, (text) => log.info({ source: 'rcon' }, `${target}: ${text}`))

  /** Sends the commands of one poll. Returns the fields in their replies. */
  async function sendCommands(opened: RconConnection, signal: AbortSignal, deadlineAt: number): Promise<Partial<Fields>> {
    const isNew = opened !== lastConnection
    // The server may have been updated, unless it closes each connection anyway.
    if (isNew && lastConnection !== undefined && !closing.closesEach()) planner.reconnected()
    const reconnect = async () => {
      lastConnection?.close()
      lastConnection = await session.connection(signal)
    }
    const send = async (command: RconCommand): Promise<RconReply> => {
      if (connection().replies > 0 && closing.closesEach()) await reconnect()
      try {
        const reply = await connection().request(command, signal)
        if (connection().replies > 1) closing.keptOpen()
        return reply
      } catch (error) {
        const isSpent = toSourceError(error, target).code === 'closed' && connection().replies === 1
        if (!isSpent) throw error
        closing.closedAfterReply()
        await reconnect()
        return connection().request(command, signal)
      }
    }
    const connection = () => lastConnection ?? opened
    lastConnection = opened
    const read: Partial<Fields> = {}
    const planned = planner.plan(clock.now())
    let answered = 0
    let longestMs = 0
    for (const [index, { command, take }] of planned.entries()) {
      // The first command over an existing connection is always sent, so that the duration is measured again.
      if ((index > 0 || isNew) && !duration.fits(deadlineAt - clock.now())) break
      const sentAt = clock.now()
      try {
        const reply = await send(command)
        // A reply whose end was not marked has taken all the time until the deadline.
        duration.measured((signal.aborted ? reply.at : clock.now()) - sentAt)
        thread.answered(sentAt, reply.at)
        Object.assign(read, take(reply))
      } catch (thrown) {
        const { code } = toSourceError(thrown, target)
        if (!partialFailures.has(code)) throw thrown
        const tookMs = clock.now() - sentAt
        if (code === 'timeout') duration.measured(tookMs)
        for (const { drop } of planned.slice(index)) drop()
        // If the other commands took most of the time, the server is slow.
        const isSlow = tookMs < 3 * longestMs
        if (answered === 0 || code !== 'timeout') unanswered.suspect(command)
        else if (!isSlow) unanswered.unanswered(command, clock.now())
        if (answered === 0) {
          const error = withProgress(toSourceError(thrown, target), 'accepted')
          if (code === 'timeout') thread.unanswered(sentAt, error)
          throw error
        }
        break
      }
      unanswered.answered(command)
      answered++
      longestMs = Math.max(longestMs, clock.now() - sentAt)
    }
    if (answered === 0 && planned.length > 0) {
      const text = `${target}: the login took too long; no command was sent before the deadline`
      const error = new SourceError('timeout', text, { progress: 'accepted' })
      thread.notSent(error)
      throw error
    }
    return read
  }

  function rateOf({ tickCount, playersOnline, tickFrozen, tickSprinting, tickRateTarget }: Partial<Fields>): TickRate {
    if (tickCount === undefined) return {}
    const reading = { ...tickCount, playersOnline, frozen: tickFrozen, sprinting: tickSprinting, target: tickRateTarget }
    return measureTickRate(reading)
  }

  async function read(signal: AbortSignal, deadlineAt: number): Promise<Reading> {
    const connection = await session.connection(signal)
    const now = await sendCommands(connection, signal, deadlineAt)
    const { fields, readAt, readEvery } = planner.fields()
    const rate = rateOf(now)
    const rateReadAt = now.tickCount && { tickRate: now.tickCount.at, tickPaused: now.tickCount.at }
    return {
      source: 'rcon',
      at: clock.now(),
      fields: { ...fields, ...rate },
      readAt: { ...readAt, ...rateReadAt },
      readEvery,
    }
  }

  return {
    name: 'rcon',
    target,
    ...(context.discovered?.includes('password') && { hints: { auth: discoveredPassword } }),
    async poll(signal, deadlineAt = Number.POSITIVE_INFINITY) {
      try {
        phases?.start()
        const reading = await read(toAbortSignal(signal), deadlineAt)
        phases?.end('read')
        session.pollEnded()
        return reading
      } catch (thrown) {
        const error = toSourceError(thrown, target)
        session.pollEnded(error)
        thread.failed(error)
        // The server was stopped. Its tick counter continues after the restart, which must not be mistaken for a slow server.
        if (error.code === 'refused') measureTickRate = createTickRate()
        throw error
      }
    },
    mainThread: () => ({ ...thread.activity(), lateAfterMs: maxCommandMs }),
    resting: () => unanswered.resting(clock.now()),
    close: () => session.close(),
  }
}
