import type { AbortSignalLike } from '../../../util/abortable.ts'
import { formatHostPort, type HostPort } from '../../../util/address.ts'
import type { Clock } from '../../../util/clock.ts'
import { SourceError, toSourceError, withProgress } from '../../errors.ts'
import { HostAddresses, systemNetwork } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import type { ConnectBackoff, SourceContext } from '../source.ts'
import { RconConnection } from './connection.ts'
import type { ReplyEnd } from './reply-collector.ts'

export interface RconSettings {
  readonly address: HostPort
  readonly password: string
}

/** Keeps one connection open, and makes a new one after it was closed. */
export class RconSession {
  readonly #settings: RconSettings
  readonly #clock: Clock
  readonly #hostAddresses: HostAddresses
  readonly #phases: PhaseTimer | undefined
  readonly #target: string
  readonly #backoff: ConnectBackoff | undefined
  readonly #replyEnd: ReplyEnd = { bySilence: false }
  #current: RconConnection | undefined
  #closed = false

  constructor(settings: RconSettings, { clock, network = systemNetwork, connectBackoff }: SourceContext, phases?: PhaseTimer) {
    this.#settings = settings
    this.#clock = clock
    this.#hostAddresses = new HostAddresses(settings.address.host, network)
    this.#phases = phases
    this.#target = formatHostPort(settings.address)
    this.#backoff = connectBackoff?.('rcon', this.#target, settings.password)
  }

  /**
   * Returns the open connection, or a new one if the backoff allows it.
   * @throws SourceError during the pause after a failure, the last error without a new attempt
   */
  async connection(signal: AbortSignalLike): Promise<RconConnection> {
    this.#throwIfClosed()
    signal.throwIfAborted()
    if (this.#current?.open && (await this.#hostAddresses.haveChanged(signal))) this.#current.close()
    if (this.#current?.open) return this.#current
    if (this.#backoff === undefined) return await this.#connect(signal)
    const connection = await this.#backoff.attempt(() => this.#connect(signal), signal)
    // What fails after a login is no failure of the connection: the next poll logs in again, to find out whether it still fails.
    this.#backoff.succeeded()
    return connection
  }

  /** Records that the password was rejected, also after the login: some servers accept it first, and reject it in a second packet. */
  rejected(error: SourceError): void {
    this.#backoff?.failed(error)
  }

  /** Closes the connection at the deadline of a poll. A request in progress fails with this error. */
  abort(error: SourceError): void {
    this.#current?.close(error)
  }

  close(): void {
    this.#closed = true
    this.#current?.close()
    this.#backoff?.release()
  }

  #throwIfClosed(): void {
    if (this.#closed) throw new SourceError('aborted', `${this.#target}: no longer watched`)
  }

  async #connect(signal: AbortSignalLike): Promise<RconConnection> {
    const { address, password } = this.#settings
    const { network } = this.#hostAddresses
    const target = this.#target
    const phases = this.#phases
    const addresses = await this.#hostAddresses.resolve(signal)
    phases?.end('resolve')
    signal.throwIfAborted()
    this.#throwIfClosed()
    const socket = await network.connect(addresses, address.port, signal, { usesChunksAtOnce: true })
    phases?.end('connect')
    const connection = new RconConnection({ socket, target, clock: this.#clock, replyEnd: this.#replyEnd, phases })
    this.#current = connection
    if (this.#closed) connection.close()
    try {
      await connection.login(password)
    } catch (error) {
      throw withProgress(toSourceError(error, target), 'connected')
    }
    return connection
  }
}
