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

/** The connections to the shared state: one for commands, one for messages. Both reconnect automatically. */
export interface StateConnection {
  /** Whether commands succeed and messages arrive. */
  readonly isUp: boolean
  /** Whether commands can be sent. */
  readonly isConnected: boolean
  /** Whether the channel is subscribed to. */
  readonly isSubscribed: boolean
  /** Monotonic milliseconds at which the last message arrived or the subscription started. */
  readonly lastMessageAt: number
  /**
   * Runs a command, with a timeout of a few seconds.
   * @param part the purpose, for error reports: a server that is full, for example, refuses writes but not reads
   * @throws StateUnavailable
   */
  run<T>(part: StatePart, command: (redis: Redis) => Promise<T>): Promise<T>
  /** Calls the listener with each message of the channel, and `onSubscribed` after each (re)subscription. */
  subscribe(channel: string, listener: (message: string) => void, onSubscribed: () => void): void
  /** Calls the listener after each (re)connection. */
  onReady(listener: () => void): void
  /** Calls the listener when commands start to fail. */
  onFailure(listener: () => void): void
  /** Reconnects the connection for messages, if expected messages do not arrive. */
  resubscribe(): void
  close(): void
}

export interface StateConnectionOptions {
  readonly address: StateAddress
  readonly password?: string | undefined
  readonly clock: Clock
  readonly log: Log
  /** Timeout of a command, milliseconds. */
  readonly timeoutMs: number
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
  const { address, password, clock, log, timeoutMs, maxRetryMs } = options
  const secret = password ?? address.password
  const readyListeners = new Set<() => void>()
  const failureListeners = new Set<() => void>()
  const mask = createMask(secret === undefined ? [] : [secret])
  const problemOf = (error: unknown): StateProblem => {
    const problem = toStateProblem(error)
    return { ...problem, message: mask(problem.message) }
  }
  const reports = createProblemReports(log, formatStateAddress(address))
  let hasWorked = false
  let isSubscribed = false
  /** Why the database was not selected: the client would continue with database 0, which may contain other data. */
  let selectError: unknown
  let isClosed = false
  let lastMessageAt = Number.NEGATIVE_INFINITY

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
  const messages = new Redis({ ...settings, autoResubscribe: false })

  function fail(part: StatePart, error: unknown): void {
    if (isClosed) return
    const isFirst = reports.add(part, problemOf(error))
    if (isFirst && part !== 'messages') for (const listener of failureListeners) listener()
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
    isSubscribed = false
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
      return hasWorked && isSubscribed && !reports.hasAny
    },
    get isConnected() {
      return commands.status === 'ready' && selectError === undefined
    },
    get isSubscribed() {
      return isSubscribed
    },
    get lastMessageAt() {
      return lastMessageAt
    },
    async run(part, command) {
      try {
        if (selectError !== undefined) throw selectError
        const result = await command(commands)
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
    subscribe(channel, listener, onSubscribed) {
      messages.on('message', (_channel: string, message: string) => {
        lastMessageAt = clock.now()
        listener(message)
      })
      const subscribe = async () => {
        try {
          await messages.subscribe(channel)
          lastMessageAt = clock.now()
          isSubscribed = true
          reports.remove('messages')
          onSubscribed()
        } catch (error) {
          fail('messages', error)
          // Nothing else would try again: the connection itself may still be open.
          if (!isClosed) clock.after(maxRetryMs, () => !isClosed && !isSubscribed && messages.disconnect(true))
        }
      }
      messages.on('ready', subscribe)
      if (messages.status === 'ready') void subscribe()
    },
    onReady(listener) {
      readyListeners.add(listener)
      if (commands.status === 'ready') listener()
    },
    onFailure: (listener) => void failureListeners.add(listener),
    resubscribe: () => messages.disconnect(true),
    close() {
      isClosed = true
      commands.disconnect()
      messages.disconnect()
    },
  }
}
