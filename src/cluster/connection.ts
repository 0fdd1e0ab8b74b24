import { once } from 'node:events'
import { Redis, type RedisOptions } from 'ioredis'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { formatStateAddress, type StateAddress } from './address.ts'
import { createStateKeys } from './keys.ts'
import { ProblemReports, type StatePart } from './problems.ts'
import { scripts } from './scripts.ts'
import { ServerTime } from './server-time.ts'

/** A command failed. */
export class StateUnavailable extends Error {
  override readonly name = 'StateUnavailable'
}

export interface StateConnectionOptions {
  readonly address: StateAddress
  /** STATE_PREFIX */
  readonly prefix: string
  readonly password?: string | undefined
  readonly clock: Clock
  readonly log: Log
  /** Timeout of a command, milliseconds. */
  readonly timeoutMs: number
  /** Maximum time that a command of the part `messages` waits for entries, milliseconds. */
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
  readonly serverTime = new ServerTime()
  readonly keys: ReturnType<typeof createStateKeys>
  readonly #commands: Redis
  readonly #messages: Redis
  readonly #clock: Clock
  readonly #reports: ProblemReports
  #isClosed = false
  /** Monotonic milliseconds. */
  #reconnectedAt = Number.NEGATIVE_INFINITY

  constructor(options: StateConnectionOptions) {
    const { address, prefix, password, clock, log, timeoutMs, maxBlockMs, maxRetryMs } = options
    const secret = password ?? address.password
    this.keys = createStateKeys(prefix)
    this.#clock = clock
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
      connectTimeout: connectTimeoutMs,
      commandTimeout: timeoutMs,
      // Commands that could not be sent are outdated when the connection is back.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (times: number) => Math.min(minRetryMs * 2 ** Math.min(times, 10), maxRetryMs) * (0.8 + 0.2 * Math.random()),
      reconnectOnError: (error: Error) => error.message.startsWith('READONLY') && this.#mayReconnect(maxRetryMs),
    } satisfies RedisOptions
    this.#commands = new Redis({
      ...settings,
      scripts,
      // Detects a connection whose other end disappeared without closing it.
      socketTimeout: Math.max(4 * timeoutMs, 4_000),
    })
    this.#messages = new Redis({ ...settings, commandTimeout: timeoutMs + maxBlockMs })
    for (const [part, redis] of [
      ['commands', this.#commands],
      ['messages', this.#messages],
    ] as const) {
      redis.on('error', (error: Error & { readonly command?: { readonly name: string } }) => {
        this.#fail(part, error)
        // The client would continue with database 0, which may contain other data.
        if (error.command?.name === 'select') redis.disconnect(true)
      })
      redis.on('close', () => this.#fail(part, new Error('closed')))
    }
  }

  /** Resolves once an attempt to connect has succeeded or failed, at most a second from now. */
  async attempted(): Promise<void> {
    if (this.isConnected) return
    await once(this.#commands, 'ready', { signal: AbortSignal.timeout(maxAttemptMs) }).catch(() => {})
  }

  /** Whether commands succeed and the stream is read. */
  get isUp(): boolean {
    return this.#reports.isUp
  }

  /** Whether commands can be sent. */
  get isConnected(): boolean {
    return this.#commands.status === 'ready'
  }

  /**
   * Runs a command, with a timeout of a few seconds.
   * @param part the purpose, for error reports: a server that is full, for example, refuses writes but not reads. Commands of `messages` are
   * sent on the connection that waits for entries.
   * @throws StateUnavailable
   */
  async run<T>(part: StatePart, command: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = part === 'messages' ? this.#messages : this.#commands
    try {
      const result = await command(redis)
      this.#reports.remove(part)
      return result
    } catch (error) {
      // Users of locks report failures themselves. UNBLOCKED: the server has become a replica or the primary, and says so at the next command.
      if (part !== 'locks' && !(error as Error).message.startsWith('UNBLOCKED')) this.#fail(part, error)
      // Nothing else would try again: the connection itself may still be open.
      if (redis === this.#messages && !this.#isClosed && redis.status === 'ready') redis.disconnect(true)
      // Without the error as its cause, because that contains the arguments of the command.
      throw new StateUnavailable(this.#reports.explain(error))
    }
  }

  /** Calls the listener after each (re)connection. */
  onReady(listener: () => void): void {
    this.#commands.on('ready', listener)
    if (this.isConnected) listener()
  }

  close(): void {
    this.#isClosed = true
    this.#commands.disconnect()
    this.#messages.disconnect()
  }

  /** Whether the last reconnect to look for another primary is long enough ago: the address may also be that of a replica for good. */
  #mayReconnect(pauseMs: number): boolean {
    const now = this.#clock.now()
    if (now - this.#reconnectedAt < pauseMs) return false
    this.#reconnectedAt = now
    return true
  }

  #fail(part: StatePart, error: unknown): void {
    if (!this.#isClosed) this.#reports.add(part, error)
  }
}
