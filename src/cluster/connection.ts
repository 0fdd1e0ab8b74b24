import { Redis, type RedisOptions } from 'ioredis'
import { createMask } from '../secrets/mask.ts'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { waitUpTo } from '../util/wait-up-to.ts'
import { formatStateAddress, type StateAddress } from './address.ts'
import { ProblemReports, type StatePart, type StateProblem, toStateProblem } from './problems.ts'
import { scripts } from './scripts.ts'

/** A command failed. */
export class StateUnavailable extends Error {
  override readonly name = 'StateUnavailable'
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
/** Maximum time that a command of the start waits for the first attempt to connect, milliseconds. */
const maxAttemptMs = 1_000
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

/** The connections to the shared state: one for commands, one that waits for entries of the stream. Both reconnect automatically. */
export class StateConnection {
  readonly #commands: Redis
  readonly #messages: Redis
  readonly #clock: Clock
  readonly #mask: (text: string) => string
  readonly #reports: ProblemReports
  readonly #readyListeners = new Set<() => void>()
  readonly #firstAttempt: Promise<void>
  #hasWorked = false
  #isReading = false
  /** Why the database was not selected: the client would continue with database 0, which may contain other data. */
  #selectError: unknown
  #isClosed = false
  /** Durations of the last two commands, milliseconds. */
  #roundTrips: readonly [number, number] = [0, 0]

  constructor(options: StateConnectionOptions) {
    const { address, password, clock, log, timeoutMs, maxBlockMs, maxRetryMs } = options
    const secret = password ?? address.password
    this.#clock = clock
    this.#mask = createMask(secret === undefined ? [] : [secret])
    this.#reports = new ProblemReports(log, formatStateAddress(address))
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
    this.#commands = new Redis({
      ...settings,
      scripts,
      // Detects a connection whose other end disappeared without closing it.
      socketTimeout: Math.max(4 * timeoutMs, 4_000),
    })
    this.#messages = new Redis({ ...settings, commandTimeout: timeoutMs + maxBlockMs })
    this.#firstAttempt = new Promise((resolve) => {
      for (const event of ['ready', 'close']) this.#commands.once(event, () => resolve())
    })
    this.#listen()
  }

  /** Resolves once the first attempt to connect has succeeded or failed, at most a second from now. */
  attempted(): Promise<void> {
    return waitUpTo(this.#firstAttempt, maxAttemptMs, this.#clock)
  }

  /** Whether commands succeed and the stream is read. */
  get isUp(): boolean {
    return this.#hasWorked && this.#isReading && !this.#reports.hasAny
  }

  /** Whether commands can be sent. */
  get isConnected(): boolean {
    return this.#commands.status === 'ready' && this.#selectError === undefined
  }

  /** Milliseconds from a command to its reply: the shorter one of the last two. */
  get roundTripMs(): number {
    return Math.min(...this.#roundTrips)
  }

  /**
   * Runs a command, with a timeout of a few seconds.
   * @param part the purpose, for error reports: a server that is full, for example, refuses writes but not reads
   * @throws StateUnavailable
   */
  async run<T>(part: StatePart, command: (redis: Redis) => Promise<T>): Promise<T> {
    try {
      if (this.#selectError !== undefined) throw this.#selectError
      const sentAt = this.#clock.now()
      const result = await command(this.#commands)
      const took = this.#clock.now() - sentAt
      this.#roundTrips = [this.#roundTrips[1] || took, took]
      this.#hasWorked = true
      this.#reports.remove(part)
      return result
    } catch (error) {
      // Users of locks report failures themselves.
      if (part !== 'locks') this.#fail(part, error)
      const problem = this.#problemOf(error)
      // Without the error as its cause, because that contains the arguments of the command.
      throw new StateUnavailable((problem.explains ? problem : (this.#reports.of('commands') ?? problem)).message)
    }
  }

  /**
   * Runs a command on the connection that waits for entries.
   * @throws StateUnavailable
   */
  async read<T>(command: (redis: Redis) => Promise<T>): Promise<T> {
    try {
      const result = await command(this.#messages)
      this.#isReading = true
      this.#reports.remove('messages')
      return result
    } catch (error) {
      this.#isReading = false
      // The server has become a replica or the primary, and says so at the next command.
      if (!(error as Error).message.startsWith('UNBLOCKED')) this.#fail('messages', error)
      // Nothing else would try again: the connection itself may still be open.
      if (!this.#isClosed && this.#messages.status === 'ready') this.#messages.disconnect(true)
      throw new StateUnavailable(this.#problemOf(error).message)
    }
  }

  /** Calls the listener after each (re)connection. */
  onReady(listener: () => void): void {
    this.#readyListeners.add(listener)
    if (this.#commands.status === 'ready') listener()
  }

  close(): void {
    this.#isClosed = true
    this.#commands.disconnect()
    this.#messages.disconnect()
  }

  #listen(): void {
    for (const [redis, part] of [
      [this.#commands, 'commands'],
      [this.#messages, 'messages'],
    ] as const) {
      redis.on('error', (error: unknown) => this.#fail(part, error))
      redis.on('close', () => this.#fail(part, new Error('closed')))
      redis.connect().catch(() => {})
    }
    this.#messages.on('close', () => {
      this.#isReading = false
    })
    this.#commands.on('connect', () => {
      this.#selectError = undefined
    })
    this.#commands.on('error', (error: unknown) => {
      if ((error as { readonly command?: { readonly name: string } }).command?.name === 'select') this.#selectError = error
    })
    this.#commands.on('ready', () => {
      for (const listener of this.#readyListeners) listener()
    })
  }

  #problemOf(error: unknown): StateProblem {
    const problem = toStateProblem(error)
    return { ...problem, message: this.#mask(problem.message) }
  }

  #fail(part: StatePart, error: unknown): void {
    if (!this.#isClosed) this.#reports.add(part, this.#problemOf(error))
  }
}
