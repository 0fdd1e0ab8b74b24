import { Redis, type RedisOptions } from 'ioredis'
import { createMask } from '../secrets/mask.ts'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { formatStateAddress, type StateAddress } from './address.ts'
import { type StateProblem, toStateProblem } from './problem.ts'
import { createProblemReports, type StatePart } from './problem-reports.ts'
import { scripts } from './scripts.ts'

/** A command failed. */
export class StateUnavailable extends Error {
  override readonly name = 'StateUnavailable'
}

/** The connections to the shared state: one for commands, one that waits for entries of the stream. Both reconnect automatically. */
export interface StateConnection {
  /** Whether commands succeed and the stream is read. */
  readonly isUp: boolean
  /** Whether commands can be sent. */
  readonly isConnected: boolean
  /** Milliseconds from a command to its reply: the shorter one of the last two. */
  readonly roundTripMs: number
  /**
   * Runs a command, with a timeout of a few seconds.
   * @param part the purpose, for error reports: a server that is full, for example, refuses writes but not reads
   * @throws StateUnavailable
   */
  run<T>(part: StatePart, command: (redis: Redis) => Promise<T>): Promise<T>
  /**
   * Runs a command on the connection that waits for entries.
   * @throws StateUnavailable
   */
  read<T>(command: (redis: Redis) => Promise<T>): Promise<T>
  /** Calls the listener after each (re)connection. */
  onReady(listener: () => void): void
  close(): void
}

export interface StateConnectionOptions {
  readonly address: StateAddress
  readonly password?: string | undefined
  readonly clock: Clock
  readonly log: Log
  /** Timeout of a command, milliseconds. */
  readonly timeoutMs: number
  /** Maximum time that a command of `read` waits for entries, milliseconds. */
  readonly maxBlockMs: number
  /** Maximum pause between two attempts to connect, milliseconds. */
  readonly maxRetryMs: number
}

const connectTimeoutMs = 5_000
const minRetryMs = 50

/**
 * Returns the replies of a pipeline or transaction.
 * @throws the first error among them
 */
export function requireReplies(results: readonly (readonly [error: Error | null, reply: unknown])[] | null): readonly unknown[] {
  return (results ?? []).map(([error, reply]) => {
    if (error !== null) throw error
    return reply
  })
}

export function createStateConnection(options: StateConnectionOptions): StateConnection {
  const { address, password, clock, log, timeoutMs, maxBlockMs, maxRetryMs } = options
  const secret = password ?? address.password
  const readyListeners = new Set<() => void>()
  const mask = createMask(secret === undefined ? [] : [secret])
  const problemOf = (error: unknown): StateProblem => {
    const problem = toStateProblem(error)
    return { ...problem, message: mask(problem.message) }
  }
  const reports = createProblemReports(log, formatStateAddress(address))
  let hasWorked = false
  let isReading = false
  /** Why the database was not selected: the client would continue with database 0, which may contain other data. */
  let selectError: unknown
  let isClosed = false
  /** Durations of the last two commands, milliseconds. */
  let roundTrips: readonly [number, number] = [0, 0]

  const settings = {
    host: address.host,
    port: address.port,
    db: address.database,
    ...(address.user !== undefined && { username: address.user }),
    ...(secret !== undefined && { password: secret }),
    ...(address.tls && { tls: {} }),
    // RESP3 has no features needed here, and proxies in front of Redis often do not support it.
    protocol: 2,
    connectionName: 'tickwarden',
    lazyConnect: true,
    connectTimeout: connectTimeoutMs,
    commandTimeout: timeoutMs,
    // Commands that could not be sent are outdated when the connection is back.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times: number) => Math.min(minRetryMs * 2 ** Math.min(times, 10), maxRetryMs) * (0.8 + 0.2 * Math.random()),
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  } satisfies RedisOptions
  const commands = new Redis({
    ...settings,
    scripts,
    // Detects a connection whose other end disappeared without closing it.
    socketTimeout: Math.max(4 * timeoutMs, 4_000),
  })
  const messages = new Redis({ ...settings, commandTimeout: timeoutMs + maxBlockMs })

  function fail(part: StatePart, error: unknown): void {
    if (isClosed) return
    reports.add(part, problemOf(error))
  }

  for (const [redis, part] of [
    [commands, 'commands'],
    [messages, 'messages'],
  ] as const) {
    redis.on('error', (error: unknown) => fail(part, error))
    redis.on('close', () => fail(part, new Error('closed')))
    redis.connect().catch(() => {})
  }
  messages.on('close', () => {
    isReading = false
  })
  commands.on('connect', () => {
    selectError = undefined
  })
  commands.on('error', (error: unknown) => {
    if ((error as { readonly command?: { readonly name: string } }).command?.name === 'select') selectError = error
  })
  commands.on('ready', () => {
    for (const listener of readyListeners) listener()
  })

  return {
    get isUp() {
      return hasWorked && isReading && !reports.hasAny
    },
    get isConnected() {
      return commands.status === 'ready' && selectError === undefined
    },
    get roundTripMs() {
      return Math.min(...roundTrips)
    },
    async run(part, command) {
      try {
        if (selectError !== undefined) throw selectError
        const sentAt = clock.now()
        const result = await command(commands)
        roundTrips = [roundTrips[1] || clock.now() - sentAt, clock.now() - sentAt]
        hasWorked = true
        reports.remove(part)
        return result
      } catch (error) {
        // Users of locks report failures themselves.
        if (part !== 'locks') fail(part, error)
        // Without the error as its cause, because that contains the arguments of the command.
        throw new StateUnavailable(problemOf(error).message)
      }
    },
    async read(command) {
      try {
        const result = await command(messages)
        isReading = true
        reports.remove('messages')
        return result
      } catch (error) {
        isReading = false
        // The server has become a replica or the primary, and says so at the next command.
        if (!(error as Error).message.startsWith('UNBLOCKED')) fail('messages', error)
        // Nothing else would try again: the connection itself may still be open.
        if (!isClosed && messages.status === 'ready') messages.disconnect(true)
        throw new StateUnavailable(problemOf(error).message)
      }
    },
    onReady(listener) {
      readyListeners.add(listener)
      if (commands.status === 'ready') listener()
    },
    close() {
      isClosed = true
      commands.disconnect()
      messages.disconnect()
    },
  }
}
