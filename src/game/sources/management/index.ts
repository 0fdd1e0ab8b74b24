import { abortable } from '../../../abortable.ts'
import { existingFile, fingerprint, text, url } from '../../../config/kinds.ts'
import { SourceError } from '../../errors.ts'
import type { Fields, Player } from '../../fields.ts'
import { systemNetwork } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import {
  eventName,
  eventParameter,
  parsePlayer,
  parsePlayers,
  parseSetting,
  parseStatus,
  type ReadingMethod,
  readingMethods,
} from '../../protocol/management.ts'
import { networkHints } from '../hints.ts'
import type { Reading, Source, SourceContext, SourceDescriptor } from '../source.ts'
import { discoverManagement } from './discover.ts'
import { connectJsonRpc, type JsonRpc, JsonRpcError, methodNotFound } from './json-rpc.ts'
import type { ManagementSettings } from './settings.ts'

const callTimeout = 10_000
/** Milliseconds for one attempt to connect, and for what is read on our own account after it. */
const attemptTimeout = 10_000
const firstPause = 1_000
const longestPause = 30_000
/** A refused secret does not get better by itself, and every try is a line in the server's log. */
const authPause = 300_000
/** Events that come faster than this are told together, so that a flood of them costs little. */
const pushSpacing = 50
const maxPlayers = 10_000

/** The management protocol (1.21.9 and later) over one kept connection: settings, the full player list, and events between polls. */
export function createManagementSource(settings: ManagementSettings, context: SourceContext): Source {
  return new ManagementSource(settings, context)
}

class ManagementSource implements Source {
  readonly name = 'management'
  readonly target: string
  readonly #settings: ManagementSettings
  readonly #context: SourceContext
  readonly #phases: PhaseTimer | undefined
  readonly #closing = new AbortController()
  #connection: JsonRpc | undefined
  #attempt: Promise<JsonRpc> | undefined
  /** Between two attempts: why there is no connection. */
  #waiting: { readonly error: SourceError; readonly cancel: () => void } | undefined
  #failures = 0
  /** What this connection's server does not know. */
  #unknown = new Set<ReadingMethod>()
  /** Who is on, by name; undefined before the first list of this connection. */
  #players: Map<string, Player> | undefined
  #unpushed: Partial<Fields> | undefined
  /** Who is on belongs to the next push: put together then, not for each of many events. */
  #moves = false
  #lastPush = Number.NEGATIVE_INFINITY
  #cancelPush: (() => void) | undefined
  /** It reads outside of a poll, and has been given reason to do so again since. */
  #reading = false
  #readAgain = false
  #cancelReading = () => {}

  constructor(settings: ManagementSettings, context: SourceContext) {
    this.#settings = settings
    this.#context = context
    this.#phases = context.phases?.timer('management')
    const { protocol, host } = new URL(settings.url)
    this.target = `${protocol}//${host}`
  }

  async poll(signal: AbortSignal): Promise<Reading> {
    signal.throwIfAborted()
    if (this.#closing.signal.aborted) throw this.#closing.signal.reason
    this.#phases?.start()
    const reading = await this.#read(this.#connection ?? (await abortable(this.#connect(), signal)), signal)
    this.#phases?.end('read')
    return reading
  }

  close(): void {
    if (this.#closing.signal.aborted) return
    this.#closing.abort(new SourceError('aborted', `${this.target}: no longer watched`))
    this.#waiting?.cancel()
    this.#cancelPush?.()
    this.#cancelReading()
    this.#connection?.close()
    this.#connection = undefined
  }

  /** Joins the attempt under way, or starts one; between two attempts it rejects with why the last one failed. */
  #connect(): Promise<JsonRpc> {
    if (this.#waiting !== undefined) return Promise.reject(this.#waiting.error)
    this.#attempt ??= this.#open().finally(() => {
      this.#attempt = undefined
    })
    return this.#attempt
  }

  async #open(): Promise<JsonRpc> {
    const { url, secret, caFile, fingerprint } = this.#settings
    const { signal, done } = this.#deadline()
    try {
      const connection = await connectJsonRpc(
        {
          url,
          secret,
          trust: { ...(caFile !== undefined && { caFile }), ...(fingerprint !== undefined && { fingerprint }) },
          network: this.#context.network ?? systemNetwork,
          clock: this.#context.clock,
          phases: this.#phases,
          callTimeout,
          onNotification: (method, params) => this.#notice(method, params),
          onClose: (error) => this.#fail(error),
        },
        signal,
      )
      if (this.#closing.signal.aborted) connection.close()
      this.#closing.signal.throwIfAborted()
      this.#connection = connection
      this.#unknown = new Set()
      return connection
    } catch (error) {
      this.#fail(error as SourceError)
      throw error
    } finally {
      done()
    }
  }

  /** A signal for work on our own account. */
  #deadline() {
    const deadline = new AbortController()
    const late = new SourceError('timeout', `${this.target}: no connection within ${attemptTimeout} ms`)
    const cancel = this.#context.clock.after(attemptTimeout, () => deadline.abort(late))
    const close = () => deadline.abort(this.#closing.signal.reason)
    this.#closing.signal.addEventListener('abort', close)
    const done = () => {
      cancel()
      this.#closing.signal.removeEventListener('abort', close)
    }
    return { signal: deadline.signal, done }
  }

  /** There is no connection (any more), also after a clean close: tries again after a pause that grows, in part by chance. */
  #fail(error: SourceError): void {
    this.#connection = undefined
    this.#players = undefined
    if (this.#closing.signal.aborted || this.#waiting !== undefined) return
    const { clock, random } = this.#context
    const pause = error.code === 'auth' ? authPause : Math.min(longestPause, firstPause * 2 ** Math.min(this.#failures, 10))
    this.#failures++
    const cancel = clock.after(pause * (0.5 + random() / 2), () => {
      this.#waiting = undefined
      void this.#readAndPush()
    })
    this.#waiting = { error, cancel }
  }

  /** Reads everything outside of a poll: after a reconnection, or when the server has started. One at a time, however often it is told. */
  async #readAndPush(): Promise<void> {
    this.#readAgain = this.#reading
    if (this.#reading) return
    this.#reading = true
    const { signal, done } = this.#deadline()
    try {
      const reading = await this.#read(this.#connection ?? (await this.#connect()), signal)
      this.#push(reading.fields)
    } catch {
      // The next poll tells.
    } finally {
      done()
      this.#reading = false
      this.#cancelReading()
      if (this.#readAgain && !this.#closing.signal.aborted)
        this.#cancelReading = this.#context.clock.after(firstPause, () => void this.#readAndPush())
    }
  }

  async #read(connection: JsonRpc, signal: AbortSignal): Promise<Reading> {
    const before = connection.received
    const fields: { -readonly [K in keyof Fields]?: Fields[K] } = {}
    const errors: unknown[] = []
    let answers = 0
    const ask = async (method: ReadingMethod) => {
      try {
        const result = await connection.call(method, signal)
        answers++
        if (method === 'minecraft:players') this.#setPlayers(parsePlayers(result))
        else if (method === 'minecraft:server/status') Object.assign(fields, this.#status(result))
        else Object.assign(fields, parseSetting(method, result))
      } catch (error) {
        errors.push(error)
        if (error instanceof JsonRpcError && error.code === methodNotFound) this.#unknown.add(method)
      }
    }
    await Promise.all(readingMethods.filter((method) => !this.#unknown.has(method)).map(ask))
    if (answers === 0) throw this.#nothing(connection, before, errors[0])
    this.#failures = 0
    Object.assign(fields, this.#playerFields())
    return { source: this.name, at: this.#context.clock.now(), fields: { edition: 'java', ...fields } }
  }

  #nothing(connection: JsonRpc, before: number, error: unknown): SourceError {
    const failure =
      error instanceof SourceError
        ? error
        : new SourceError('unsupported', `${this.target}: none of the methods is known there`, { cause: error })
    // Not one message: the connection may be dead without either side having been told.
    if (failure.code === 'timeout' && connection.received === before && this.#connection === connection) {
      connection.close()
      this.#fail(failure)
    }
    return failure
  }

  #status(result: unknown): Partial<Fields> {
    const { version, protocol, players } = parseStatus(result)
    if (this.#unknown.has('minecraft:players')) this.#setPlayers(players)
    return { ...(version !== undefined && { version }), ...(protocol !== undefined && { protocol }) }
  }

  #setPlayers(players: readonly Player[] | undefined): void {
    this.#players = players && new Map(players.map((player) => [player.name, player]))
  }

  #playerFields(): Partial<Fields> {
    if (this.#players === undefined) return {}
    return { playersOnline: this.#players.size, players: { players: [...this.#players.values()], complete: true } }
  }

  #notice(method: string, params: unknown): void {
    const event = eventName(method)
    if (event === 'players/joined' || event === 'players/left') this.#moved(event, parsePlayer(eventParameter(params, 'player')))
    else if (event === 'server/status') this.#push(this.#status(eventParameter(params, 'status')), true)
    else if (event === 'server/started') void this.#readAndPush()
    else if (event === 'server/stopping' || event === 'server/saved') this.#push({})
  }

  #moved(event: 'players/joined' | 'players/left', player: Player | undefined): void {
    const players = this.#players
    if (player === undefined || players === undefined) return
    if (event === 'players/left') {
      if (!players.delete(player.name)) return
    } else {
      if (players.size >= maxPlayers) return
      players.set(player.name, player)
    }
    this.#push({}, true)
  }

  /** At once, unless the last one was just before. */
  #push(fields: Partial<Fields>, moves = false): void {
    this.#unpushed = { ...this.#unpushed, ...fields }
    this.#moves ||= moves
    if (this.#cancelPush !== undefined) return
    const { clock } = this.#context
    const wait = this.#lastPush + pushSpacing - clock.now()
    if (wait <= 0) this.#send()
    else this.#cancelPush = clock.after(wait, () => this.#send())
  }

  #send(): void {
    const fields = { ...this.#unpushed, ...(this.#moves && this.#playerFields()) }
    this.#unpushed = undefined
    this.#moves = false
    this.#cancelPush = undefined
    if (this.#closing.signal.aborted) return
    const { clock, push } = this.#context
    this.#lastPush = clock.now()
    push({ source: this.name, at: clock.now(), fields })
  }
}

export const management: SourceDescriptor<'management', ManagementSettings> = {
  name: 'management',
  title: 'Management protocol',
  settings: {
    url: {
      env: 'MC_MANAGEMENT',
      file: 'management.url',
      kind: url('ws:', 'wss:'),
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
  },
  hints: {
    notConfigured: 'management-server-enabled=true, MC_MANAGEMENT and MC_MANAGEMENT_SECRET',
    ...networkHints('are management-server-enabled=true and this management-server-port in its server.properties?'),
    unsupported: 'is this the management-server-port of its server.properties?',
    auth: 'the secret (MC_MANAGEMENT_SECRET) must be the management-server-secret of its server.properties',
    tls: 'trust its certificate by MC_MANAGEMENT_FINGERPRINT or MC_MANAGEMENT_CA, or use ws:// where management-server-tls-enabled=false',
  },
  cost: 'one connection, eight small requests per poll',
  network: true,
  pushes: true,
  editions: ['java'],
  discover: discoverManagement,
  create: createManagementSource,
}
