import type { AbortSignalLike } from '../../../abortable.ts'
import { SourceError, toSourceError, withProgress } from '../../errors.ts'
import { addressesOf, systemNetwork } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import { formatHostPort, type HostPort } from '../../protocol/address.ts'
import type { SourceContext } from '../source.ts'
import { RconConnection } from './connection.ts'
import type { ReplyEnd } from './reply-collector.ts'

export interface RconSettings {
  readonly address: HostPort
  readonly password: string
}

export interface RconSession {
  /**
   * Returns the open connection, or a new one if the backoff allows it.
   * @throws SourceError during the pause after a failure, the last error without a new attempt
   */
  connection(signal: AbortSignalLike): Promise<RconConnection>
  /** Closes the connection at the deadline of a poll. A request in progress fails with this error. */
  abort(error: SourceError): void
  /** Records the outcome of a poll. */
  pollEnded(error?: SourceError): void
  close(): void
}

/** Keeps one connection open, and makes a new one after it was closed. */
export function createRconSession({ address, password }: RconSettings, context: SourceContext, phases?: PhaseTimer): RconSession {
  const { clock, network = systemNetwork } = context
  const target = formatHostPort(address)
  const backoff = context.connectBackoff?.('rcon', target, password)
  const replyEnd: ReplyEnd = { bySilence: false }
  let current: RconConnection | undefined
  let closed = false

  function throwIfClosed(): void {
    if (closed) throw new SourceError('aborted', `${target}: no longer watched`)
  }

  async function connect(signal: AbortSignalLike): Promise<RconConnection> {
    const addresses = await addressesOf(address.host, network, signal)
    phases?.end('resolve')
    signal.throwIfAborted()
    throwIfClosed()
    const socket = network.connect(addresses, address.port, { usesChunksAtOnce: true })
    let isConnected = false
    socket.once('connect', () => {
      isConnected = true
    })
    const connection = new RconConnection({ socket, target, clock, replyEnd, phases })
    current = connection
    try {
      await connection.login(password)
    } catch (thrown) {
      const error = toSourceError(thrown, target)
      throw isConnected ? withProgress(error, 'connected') : error
    }
    return connection
  }

  return {
    async connection(signal) {
      throwIfClosed()
      signal.throwIfAborted()
      if (current?.open) return current
      return backoff === undefined ? connect(signal) : backoff.attempt(() => connect(signal), signal)
    },
    abort: (error) => current?.close(error),
    pollEnded(error) {
      if (error === undefined) backoff?.succeeded()
      else backoff?.failed(error)
    },
    close() {
      closed = true
      current?.close()
      backoff?.release()
    },
  }
}
