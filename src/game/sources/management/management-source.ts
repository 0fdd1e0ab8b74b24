import type { AbortSignalLike } from '../../../util/abortable.ts'
import { hostOfUrl } from '../../../util/parse-url.ts'
import { SourceError, toSourceError, withProgress } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { HostAddresses, systemNetwork } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import {
  eventName,
  eventParameter,
  parsePlayer,
  parsePlayers,
  parseSetting,
  parseStatus,
  parseWorldUpgrade,
  type ReadingMethod,
  readingMethods,
} from '../../protocol/management.ts'
import { MainThreadTracker } from '../main-thread-activity.ts'
import {
  type ConnectBackoff,
  type MainThreadActivity,
  type Reading,
  type Source,
  type SourceContext,
  unmeasured,
} from '../source.ts'
import { EventPusher } from './event-pusher.ts'
import { type FailedCall, toFailures } from './failed-calls.ts'
import { connectJsonRpc, type JsonRpc, JsonRpcError, methodNotFound } from './json-rpc.ts'
import { OnlinePlayers } from './online-players.ts'
import type { ManagementSettings } from './settings.ts'

/** Used if the secret was found in the server's directory. */
const discoveredSecret =
  'the secret is the management-server-secret that server.properties (MC_DIRECTORY) has now: has it changed since the server was started?'

const maxMissedHeartbeats = 3

/**
 * Reads a server by the management protocol (1.21.9 and later), over one persistent connection: settings, the full player list, and
 * events between polls.
 */
export class ManagementSource implements Source {
  readonly name = 'management'
  readonly target: string
  readonly hints: NonNullable<Source['hints']>
  readonly #settings: ManagementSettings
  readonly #context: SourceContext
  readonly #hostAddresses: HostAddresses
  readonly #phases: PhaseTimer | undefined
  readonly #backoff: ConnectBackoff | undefined
  #connection: JsonRpc | undefined
  #closed = false
  /** The methods that this server does not support. */
  #unsupported = new Set<ReadingMethod>()
  readonly #players: OnlinePlayers
  readonly #pusher: EventPusher
  readonly #thread = new MainThreadTracker()
  #heartbeatAt: number | undefined
  /** Milliseconds between the last heartbeats, the newest last: the longer one counts, because a slow line delivers two at once. */
  #heartbeatMs: readonly number[] = []

  constructor(settings: ManagementSettings, context: SourceContext) {
    this.#settings = settings
    this.#context = context
    this.#players = new OnlinePlayers(context.clock)
    this.#pusher = new EventPusher(context, () => this.#players.read())
    this.#phases = context.phases?.timer('management')
    this.hints = context.discovered?.includes('secret') ? { auth: discoveredSecret } : {}
    const url = new URL(settings.url)
    this.#hostAddresses = new HostAddresses(hostOfUrl(url), context.network ?? systemNetwork)
    this.target = `${url.protocol}//${url.host}`
    this.#backoff = context.connectBackoff?.(this.name, this.target, settings.secret)
  }

  async poll(signal: AbortSignalLike): Promise<Reading> {
    signal.throwIfAborted()
    this.#throwIfClosed()
    this.#phases?.start()
    try {
      if (this.#connection !== undefined && (await this.#hostAddresses.haveChanged(signal))) this.#drop(this.#connection)
      const reading = await this.#read(this.#connection ?? (await this.#connect(signal)), signal)
      this.#phases?.end('read')
      return reading
    } catch (thrown) {
      const error = toSourceError(thrown, this.target)
      this.#thread.failed(error)
      throw error
    }
  }

  /** The main thread also sends heartbeats, which may be more frequent than polls. */
  mainThread(): MainThreadActivity {
    const hasHeartbeats = this.#heartbeatMs.length > 0
    return {
      ...this.#thread.activity(),
      ...(hasHeartbeats && { lateAfterMs: maxMissedHeartbeats * Math.max(...this.#heartbeatMs) }),
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#pusher.close()
    this.#connection?.close()
    this.#connection = undefined
    this.#backoff?.release()
  }

  #throwIfClosed(): void {
    if (this.#closed) throw new SourceError('aborted', `${this.target}: no longer watched`)
  }

  async #connect(signal: AbortSignalLike): Promise<JsonRpc> {
    const open = () => this.#open(signal)
    try {
      return await (this.#backoff === undefined ? open() : this.#backoff.attempt(open, signal))
    } catch (thrown) {
      const error = toSourceError(thrown, this.target)
      this.#disconnected(error)
      throw error
    }
  }

  async #open(signal: AbortSignalLike): Promise<JsonRpc> {
    const connection = await connectJsonRpc(
      {
        settings: this.#settings,
        hostAddresses: this.#hostAddresses,
        phases: this.#phases,
        measure: this.#context.measure,
        onNotification: (method, params) => this.#handleNotification(method, params),
        onClose: (error) => this.#disconnected(error),
      },
      signal,
    )
    if (this.#closed) connection.close()
    this.#throwIfClosed()
    this.#connection = connection
    this.#unsupported = new Set()
    return connection
  }

  /** Called when the connection was closed or could not be made. Requests a poll after the backoff, so that events arrive again. */
  #disconnected(error: SourceError): void {
    this.#forgetConnection()
    if (this.#closed) return
    const at = this.#backoff?.failed(error) ?? this.#context.clock.now()
    this.#context.requestPoll?.(this.name, at)
  }

  #drop(connection: JsonRpc | undefined): void {
    connection?.close()
    this.#forgetConnection()
  }

  #forgetConnection(): void {
    this.#connection = undefined
    this.#players.set(undefined)
    this.#heartbeatAt = undefined
  }

  async #read(connection: JsonRpc, signal: AbortSignalLike): Promise<Reading> {
    const { measure = unmeasured } = this.#context
    const before = connection.received
    const sentAt = this.#context.clock.now()
    const fields: { -readonly [K in keyof Fields]?: Fields[K] } = {}
    const failed: FailedCall[] = []
    let answers = 0
    const read = async (method: ReadingMethod) => {
      try {
        const result = await connection.call(method, signal)
        this.#thread.answered(sentAt, this.#context.clock.now())
        answers++
        measure(() => {
          if (method === 'minecraft:players') this.#players.set(parsePlayers(result))
          else if (method === 'minecraft:server/status') Object.assign(fields, this.#status(result))
          else Object.assign(fields, parseSetting(method, result))
        })
      } catch (error) {
        if (error instanceof JsonRpcError && error.code === methodNotFound) this.#unsupported.add(method)
        else failed.push({ method, error })
      }
    }
    await Promise.all(readingMethods.filter((method) => !this.#unsupported.has(method)).map(read))
    if (answers === 0) {
      // An error reply is the reason only if each request has one.
      const { error } = failed.find(({ error }) => !(error instanceof JsonRpcError)) ?? failed[0] ?? {}
      const failure = this.#failure(connection, before, error)
      if (failure.code === 'timeout') this.#thread.unanswered(sentAt, failure)
      throw failure
    }
    this.#backoff?.succeeded()
    const players = this.#players.read()
    const failures = toFailures(failed, this.target)
    return {
      source: this.name,
      at: this.#context.clock.now(),
      fields: { edition: 'java', ...fields, ...players.fields },
      readAt: players.readAt,
      ...(failures.length > 0 && { failures }),
    }
  }

  /** Returns the error of a poll in which no request was answered. */
  #failure(connection: JsonRpc, before: number, error: unknown): SourceError {
    const reason =
      error instanceof JsonRpcError ? `answers each request with an error (${error.message})` : 'supports none of the methods'
    const failure =
      error instanceof JsonRpcError || error === undefined
        ? new SourceError('unsupported', `${this.target}: the server ${reason}`, { cause: error })
        : withProgress(toSourceError(error, this.target), 'accepted')
    // No message arrived, so the connection may be dead without either side having noticed.
    // That is no failure of the connection, which was accepted: the next poll makes a new one.
    if (failure.code === 'timeout' && connection.received === before && this.#connection === connection) {
      this.#drop(connection)
    }
    return failure
  }

  #status(result: unknown): Partial<Fields> {
    const { version, protocol, players } = parseStatus(result)
    if (this.#unsupported.has('minecraft:players')) this.#players.set(players)
    return { ...(version !== undefined && { version }), ...(protocol !== undefined && { protocol }) }
  }

  #handleNotification(method: string, params: unknown): void {
    const event = eventName(method)
    if (event === 'players/joined' || event === 'players/left') {
      const player = parsePlayer(eventParameter(params, 'player'))
      const hasChanged =
        player !== undefined && (event === 'players/left' ? this.#players.left(player) : this.#players.joined(player))
      if (hasChanged) this.#pusher.push({}, true)
    } else if (event === 'server/status') {
      this.#heartbeat()
      this.#pusher.push(this.#status(eventParameter(params, 'status')), true)
    } else if (event === 'server/started') this.#context.requestPoll?.(this.name, this.#context.clock.now())
    else if (event.startsWith('world/')) this.#pusher.pushUpgrade(parseWorldUpgrade(event, params))
    else if (event === 'server/stopping' || event === 'server/saved') this.#pusher.push({})
  }

  #heartbeat(): void {
    const now = this.#context.clock.now()
    this.#heartbeatMs = this.#heartbeatAt === undefined ? [] : [...this.#heartbeatMs.slice(-1), now - this.#heartbeatAt]
    this.#heartbeatAt = now
    this.#thread.receivedEvent(now)
  }
}
