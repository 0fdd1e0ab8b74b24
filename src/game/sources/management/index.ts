import { baseUrl, existingFile, fingerprint, text } from '../../../config/kinds.ts'
import { SourceError, toSourceError, withProgress } from '../../errors.ts'
import type { Fields, Player, WorldUpgrade } from '../../fields.ts'
import { systemNetwork } from '../../network.ts'
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
import { networkHints } from '../hints.ts'
import { createMainThreadTracker } from '../main-thread-activity.ts'
import type { ConnectBackoff, MainThreadActivity, Reading, Source, SourceContext, SourceDescriptor } from '../source.ts'
import { discoverManagement } from './discover.ts'
import { connectJsonRpc, type JsonRpc, JsonRpcError, methodNotFound } from './json-rpc.ts'
import type { ManagementSettings } from './settings.ts'

/** What may help where the secret is that of the server's directory. */
const discoveredSecret =
  'the secret is the management-server-secret that server.properties (MC_DIRECTORY) has now: has it changed since the server was started?'

/** Events that arrive faster than this are pushed as one, so that many of them cost little. Milliseconds. */
const pushSpacingMs = 50
const maxPlayers = 10_000
const maxMissedHeartbeats = 3

/** The management protocol (1.21.9 and later) over one kept connection: settings, the full player list, and events between polls. */
export function createManagementSource(settings: ManagementSettings, context: SourceContext): Source {
  return new ManagementSource(settings, context)
}

class ManagementSource implements Source {
  readonly name = 'management'
  readonly target: string
  readonly hints: NonNullable<Source['hints']>
  readonly #settings: ManagementSettings
  readonly #context: SourceContext
  readonly #phases: PhaseTimer | undefined
  readonly #backoff: ConnectBackoff | undefined
  #connection: JsonRpc | undefined
  #closed = false
  /** The methods that the server of this connection does not have. */
  #unsupported = new Set<ReadingMethod>()
  /** The players who are online, by name; undefined before the first list of this connection. */
  #players: Map<string, Player> | undefined
  /** Monotonic milliseconds of the last list or event. */
  #playersReadAt = 0
  #unpushed: Partial<Fields> | undefined
  /** The next push includes the players. The list is built then, not for each of many events. */
  #havePlayersChanged = false
  #lastPush = Number.NEGATIVE_INFINITY
  #cancelPush: (() => void) | undefined
  readonly #thread = createMainThreadTracker()
  #heartbeatAt: number | undefined
  #worldUpgrade: WorldUpgrade['state'] | undefined
  /** Milliseconds between the last two heartbeats. */
  #heartbeatMs: number | undefined

  constructor(settings: ManagementSettings, context: SourceContext) {
    this.#settings = settings
    this.#context = context
    this.#phases = context.phases?.timer('management')
    this.hints = context.discovered?.includes('secret') ? { auth: discoveredSecret } : {}
    const { protocol, host } = new URL(settings.url)
    this.target = `${protocol}//${host}`
    this.#backoff = context.connectBackoff?.(this.name, this.target, settings.secret)
  }

  async poll(signal: AbortSignal): Promise<Reading> {
    signal.throwIfAborted()
    this.#throwIfClosed()
    this.#phases?.start()
    try {
      const reading = await this.#read(this.#connection ?? (await this.#connect(signal)), signal)
      this.#phases?.end('read')
      return reading
    } catch (thrown) {
      const error = toSourceError(thrown, this.target)
      this.#thread.failed(error)
      throw error
    }
  }

  /** Heartbeats are sent by the main thread too, and perhaps more often than polls. */
  mainThread(): MainThreadActivity {
    const lateAfterMs = this.#heartbeatMs === undefined ? undefined : maxMissedHeartbeats * this.#heartbeatMs
    return { ...this.#thread.activity(), ...(lateAfterMs !== undefined && { lateAfterMs }) }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#cancelPush?.()
    this.#connection?.close()
    this.#connection = undefined
    this.#backoff?.release()
  }

  #throwIfClosed(): void {
    if (this.#closed) throw new SourceError('aborted', `${this.target}: no longer watched`)
  }

  async #connect(signal: AbortSignal): Promise<JsonRpc> {
    const open = () => this.#open(signal)
    try {
      return await (this.#backoff === undefined ? open() : this.#backoff.attempt(open, signal))
    } catch (thrown) {
      const error = toSourceError(thrown, this.target)
      this.#disconnected(error)
      throw error
    }
  }

  async #open(signal: AbortSignal): Promise<JsonRpc> {
    const { url, secret, caFile, fingerprint } = this.#settings
    const connection = await connectJsonRpc(
      {
        url,
        secret,
        trust: { ...(caFile !== undefined && { caFile }), ...(fingerprint !== undefined && { fingerprint }) },
        network: this.#context.network ?? systemNetwork,
        phases: this.#phases,
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

  /** The connection was closed, or none could be made. Events arrive only over a connection, so a poll is requested for the end of the backoff. */
  #disconnected(error: SourceError): void {
    this.#connection = undefined
    this.#players = undefined
    this.#heartbeatAt = undefined
    if (this.#closed) return
    const at = this.#backoff?.failed(error) ?? this.#context.clock.now()
    this.#context.requestPoll?.(this.name, at)
  }

  async #read(connection: JsonRpc, signal: AbortSignal): Promise<Reading> {
    const before = connection.received
    const sentAt = this.#context.clock.now()
    const fields: { -readonly [K in keyof Fields]?: Fields[K] } = {}
    const errors: unknown[] = []
    let answers = 0
    const read = async (method: ReadingMethod) => {
      try {
        const result = await connection.call(method, signal)
        this.#thread.answered(sentAt, this.#context.clock.now())
        answers++
        if (method === 'minecraft:players') this.#setPlayers(parsePlayers(result))
        else if (method === 'minecraft:server/status') Object.assign(fields, this.#status(result))
        else Object.assign(fields, parseSetting(method, result))
      } catch (error) {
        errors.push(error)
        if (error instanceof JsonRpcError && error.code === methodNotFound) this.#unsupported.add(method)
      }
    }
    await Promise.all(readingMethods.filter((method) => !this.#unsupported.has(method)).map(read))
    if (answers === 0) {
      const failure = this.#failure(connection, before, errors[0])
      if (failure.code === 'timeout') this.#thread.unanswered(sentAt, failure)
      throw failure
    }
    this.#backoff?.succeeded()
    return {
      source: this.name,
      at: this.#context.clock.now(),
      fields: { edition: 'java', ...fields, ...this.#playerFields() },
      // Without an answer to the request for the list, the players are those of the last list or event.
      readAt: { players: this.#playersReadAt, playersOnline: this.#playersReadAt },
    }
  }

  /** Why no method was answered. */
  #failure(connection: JsonRpc, before: number, error: unknown): SourceError {
    const failure =
      error instanceof JsonRpcError || error === undefined
        ? new SourceError('unsupported', `${this.target}: the server supports none of the methods`, { cause: error })
        : withProgress(toSourceError(error, this.target), 'accepted')
    // No message arrived: the connection may be dead without either side having noticed.
    if (failure.code === 'timeout' && connection.received === before && this.#connection === connection) {
      connection.close()
      this.#disconnected(failure)
    }
    return failure
  }

  #status(result: unknown): Partial<Fields> {
    const { version, protocol, players } = parseStatus(result)
    if (this.#unsupported.has('minecraft:players')) this.#setPlayers(players)
    return { ...(version !== undefined && { version }), ...(protocol !== undefined && { protocol }) }
  }

  #setPlayers(players: readonly Player[] | undefined): void {
    this.#players = players && new Map(players.map((player) => [player.name, player]))
    this.#playersReadAt = this.#context.clock.now()
  }

  #playerFields(): Partial<Fields> {
    if (this.#players === undefined) return {}
    return { playersOnline: this.#players.size, players: { players: [...this.#players.values()], complete: true } }
  }

  #handleNotification(method: string, params: unknown): void {
    const event = eventName(method)
    if (event === 'players/joined' || event === 'players/left')
      this.#playerJoinedOrLeft(event, parsePlayer(eventParameter(params, 'player')))
    else if (event === 'server/status') {
      this.#heartbeat()
      this.#push(this.#status(eventParameter(params, 'status')), true)
    } else if (event === 'server/started') this.#context.requestPoll?.(this.name, this.#context.clock.now())
    else if (event.startsWith('world/')) this.#upgrade(parseWorldUpgrade(event, params))
    else if (event === 'server/stopping' || event === 'server/saved') this.#push({})
  }

  /** Sent while the server starts: it is not up yet. */
  #upgrade(worldUpgrade: WorldUpgrade | undefined): void {
    if (worldUpgrade === undefined || this.#closed) return
    const { clock, push } = this.#context
    const isChange = worldUpgrade.state !== this.#worldUpgrade
    if (!isChange && clock.now() < this.#lastPush + pushSpacingMs) return
    this.#worldUpgrade = worldUpgrade.state
    this.#lastPush = clock.now()
    push({ source: this.name, at: clock.now(), fields: { worldUpgrade }, isStarting: true })
  }

  #heartbeat(): void {
    const now = this.#context.clock.now()
    this.#heartbeatMs = this.#heartbeatAt === undefined ? undefined : now - this.#heartbeatAt
    this.#heartbeatAt = now
    this.#thread.heard(now)
  }

  #playerJoinedOrLeft(event: 'players/joined' | 'players/left', player: Player | undefined): void {
    const players = this.#players
    if (player === undefined || players === undefined) return
    if (event === 'players/left') {
      if (!players.delete(player.name)) return
    } else {
      if (players.size >= maxPlayers) return
      players.set(player.name, player)
    }
    this.#playersReadAt = this.#context.clock.now()
    this.#push({}, true)
  }

  /** Pushes at once, or where the last push was less than `pushSpacingMs` ago, after that time. */
  #push(fields: Partial<Fields>, havePlayersChanged = false): void {
    this.#unpushed = { ...this.#unpushed, ...fields }
    this.#havePlayersChanged ||= havePlayersChanged
    if (this.#cancelPush !== undefined) return
    const { clock } = this.#context
    const waitMs = this.#lastPush + pushSpacingMs - clock.now()
    if (waitMs <= 0) this.#send()
    else this.#cancelPush = clock.after(waitMs, () => this.#send())
  }

  #send(): void {
    const fields = { ...this.#unpushed, ...(this.#havePlayersChanged && this.#playerFields()) }
    const readAt = this.#havePlayersChanged ? { players: this.#playersReadAt, playersOnline: this.#playersReadAt } : {}
    this.#unpushed = undefined
    this.#havePlayersChanged = false
    this.#cancelPush = undefined
    if (this.#closed) return
    const { clock, push } = this.#context
    this.#lastPush = clock.now()
    push({ source: this.name, at: clock.now(), fields, readAt })
  }
}

export const management: SourceDescriptor<'management', ManagementSettings> = {
  name: 'management',
  title: 'Management protocol',
  settings: {
    url: {
      env: 'MC_MANAGEMENT',
      file: 'management.url',
      kind: baseUrl('ws:', 'wss:'),
      required: true,
      otherwise: 'off',
      meaning: 'management protocol URL',
    },
    secret: {
      env: 'MC_MANAGEMENT_SECRET',
      file: 'management.secret',
      kind: text,
      required: true,
      secret: true,
      meaning: 'management protocol secret',
    },
    caFile: {
      env: 'MC_MANAGEMENT_CA',
      file: 'management.ca',
      kind: existingFile('a PEM file that exists'),
      meaning: 'PEM file that the certificate of the management protocol is checked against',
    },
    fingerprint: {
      env: 'MC_MANAGEMENT_FINGERPRINT',
      file: 'management.fingerprint',
      kind: fingerprint,
      meaning: 'SHA-256 fingerprint of the certificate of the management protocol',
    },
  },
  fields: {
    edition: 20,
    version: 10,
    protocol: 10,
    motd: 10,
    // The count follows the list, so that a join reported by an event is in both.
    playersOnline: 10,
    playersMax: 10,
    players: 10,
    defaultGameMode: 10,
    difficulty: 10,
    viewDistance: 10,
    pauseWhenEmpty: 10,
    worldUpgrade: 10,
  },
  requires: { worldUpgrade: '26.2 or later, while it starts' },
  hints: {
    notConfigured: 'management-server-enabled=true, MC_MANAGEMENT and MC_MANAGEMENT_SECRET',
    ...networkHints('are management-server-enabled=true and this management-server-port in its server.properties?'),
    unsupported: 'is this the management-server-port of its server.properties?',
    auth: 'the secret (MC_MANAGEMENT_SECRET) must be the management-server-secret of its server.properties',
    tls: 'trust its certificate by MC_MANAGEMENT_FINGERPRINT or MC_MANAGEMENT_CA, or use ws:// where management-server-tls-enabled=false',
  },
  timeoutHints: {
    connected: 'the connection is accepted, but not the WebSocket: is this the management-server-port of its server.properties?',
    accepted:
      'the secret is accepted, but no request is answered; the main thread answers them: is the server hung or overloaded?',
  },
  cost: 'one connection, eight small requests per poll',
  network: true,
  pushes: true,
  editions: ['java'],
  discover: discoverManagement,
  create: createManagementSource,
}
