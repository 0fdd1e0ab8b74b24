import { Redis, type RedisOptions } from 'ioredis'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { formatStateAddress, type StateAddress } from './address.ts'
import { toStateProblem } from './problem.ts'
import { createProblemReports, type StatePart } from './problem-reports.ts'
import { scripts } from './scripts.ts'

/** A command failed. */
export class StateUnavailable extends Error {
  override readonly name = 'StateUnavailable'
}

/** The connections to the shared state: one for commands, one that receives messages. Both reconnect by themselves. */
export interface StateConnection {
  /** Whether commands succeed and messages arrive. */
  readonly isUp: boolean
  /** Whether commands can be sent. */
  readonly isConnected: boolean
  /** Whether messages are subscribed to. */
  readonly isSubscribed: boolean
  /** Monotonic milliseconds at which the last message arrived, or the subscription began. */
  readonly lastMessageAt: number
  /**
   * Runs a command. At most a few seconds pass until it has a reply.
   * @param part what it is for: what the server refuses for one purpose, such as writes while it is full, may work for another
   * @throws StateUnavailable
   */
  run<T>(part: StatePart, command: (redis: Redis) => Promise<T>): Promise<T>
  /** Calls the listener with each message of the channel, `onSubscribed` each time the messages begin to arrive (again). */
  subscribe(channel: string, listener: (message: string) => void, onSubscribed: () => void): void
  /** Calls the listener when commands can be sent (again). */
  onReady(listener: () => void): void
  /** Calls the listener when commands begin to fail. */
  onFailure(listener: () => void): void
  /** Replaces the connection that receives messages, where none have arrived although they should have. */
  resubscribe(): void
  close(): void
}

export interface StateConnectionOptions {
  readonly address: StateAddress
  readonly password?: string | undefined
  readonly clock: Clock
  readonly log: Log
  /** Milliseconds that a command may take. */
  readonly timeoutMs: number
  /** Longest pause between two attempts to connect, milliseconds. */
  readonly maxRetryMs: number
}

const connectTimeoutMs = 5_000
const minRetryMs = 50

/**
 * The replies of a pipeline or transaction.
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
  const reports = createProblemReports(log, formatStateAddress(address))
  let hasWorked = false
  let isSubscribed = false
  /** Why the database was not selected: the client would go on in database 0, among the data of others. */
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
    // Version 3 of the protocol offers nothing that is needed here, and proxies in front of Redis often lack it.
    protocol: 2,
    connectionName: 'tickwarden',
    lazyConnect: true,
    connectTimeout: connectTimeoutMs,
    commandTimeout: timeoutMs,
    // What could not be sent is out of date by the time it could.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times: number) => Math.min(minRetryMs * 2 ** Math.min(times, 10), maxRetryMs) * (0.8 + 0.2 * Math.random()),
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  } satisfies RedisOptions
  const commands = new Redis({
    ...settings,
    scripts,
    // A connection whose other end is gone without a word.
    socketTimeout: Math.max(4 * timeoutMs, 4_000),
  })
  const messages = new Redis({ ...settings, autoResubscribe: false })

  function fail(part: StatePart, error: unknown): void {
    if (isClosed) return
    const isFirst = reports.add(part, toStateProblem(error))
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
        // What needs a lock reports itself why it did not happen.
        if (part !== 'locks') fail(part, error)
        // Without the error as its cause: that holds the arguments of the command.
        throw new StateUnavailable(toStateProblem(error).message)
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
