import { SourceError } from '../../errors.ts'
import { addressesOf, systemNetwork } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import { formatHostPort, type HostPort } from '../../protocol/address.ts'
import type { SourceContext } from '../source.ts'
import { RconConnection } from './connection.ts'

/** A password that was refused is not tried again for this long: servers log every attempt, and some ban for it. */
export const authPause = 300_000
const firstPause = 1_000
const longestPause = 30_000

export interface RconSettings {
  readonly address: HostPort
  readonly password: string
}

export interface RconSession {
  /**
   * The kept connection, or a new one.
   * @throws SourceError the last failure, without connecting, while the pause after it is not over
   */
  connection(signal: AbortSignal): Promise<RconConnection>
  /** The poll over the connection has ended. */
  settled(error?: SourceError): void
  close(): void
}

/** Keeps one connection, and makes a new one when it has ended: at once after it served, later and later after failures. */
export function createRconSession({ address, password }: RconSettings, context: SourceContext, phases?: PhaseTimer): RconSession {
  const { clock, random, network = systemNetwork } = context
  const target = formatHostPort(address)
  let current: RconConnection | undefined
  let failure: SourceError | undefined
  let failures = 0
  let nextAttempt = Number.NEGATIVE_INFINITY
  let closed = false

  async function connect(signal: AbortSignal): Promise<RconConnection> {
    const addresses = await addressesOf(address.host, network, signal)
    phases?.end('resolve')
    if (closed) throw new SourceError('aborted', `${target}: no longer asked`)
    const made = new RconConnection({ socket: network.connect(addresses, address.port), target, clock, phases })
    current = made
    await made.login(password, signal)
    return made
  }

  return {
    async connection(signal) {
      if (closed) throw new SourceError('aborted', `${target}: no longer asked`)
      if (current?.open) return current
      if (failure && clock.now() < nextAttempt) throw failure
      return connect(signal)
    },
    settled(error) {
      if (error === undefined) {
        failures = 0
        failure = undefined
        return
      }
      // What waits for its next attempt has already been counted.
      if (error === failure || error.code === 'aborted') return
      failure = error
      failures++
      const pause = Math.min(longestPause, firstPause * 2 ** (failures - 1)) * (0.5 + 0.5 * random())
      nextAttempt = clock.now() + (error.code === 'auth' ? authPause : pause)
    },
    close() {
      closed = true
      current?.close()
    },
  }
}
