import { type AbortSignalLike, withOwnSignal } from '../../../util/abortable.ts'
import { defaultPorts, formatHostPort, formatServerAddress, type HostPort } from '../../../util/address.ts'
import type { Clock } from '../../../util/clock.ts'
import { SourceError, type SourceErrorCode, toSourceError } from '../../errors.ts'
import type { Network } from '../../network.ts'
import { createRakNetReader } from './raknet.ts'

/** The errors of a host where no Java server listens. */
const withoutServer: readonly SourceErrorCode[] = ['refused', 'unreachable', 'malformed', 'closed']
/** Milliseconds to wait for a pong. */
const maxMs = 1_000
/** Maximum number of checks at the same time: thousands of servers may be down at the start. Others are made at a later failure. */
const maxRunning = 16
let running = 0

/** Checks once whether a Bedrock server answers at the address of a Java server that has never been reached. */
export class BedrockSuggestion {
  readonly #address: HostPort
  readonly #clock: Clock
  readonly #network: Network
  #isChecked = false
  #hint: string | undefined

  constructor(address: HostPort, clock: Clock, network: Network) {
    this.#address = address
    this.#clock = clock
    this.#network = network
  }

  /** Adds the hint to write the address of a Bedrock server as such, if one answers. Never rejects. */
  async explain(thrown: unknown, signal: AbortSignalLike): Promise<SourceError> {
    const error = toSourceError(thrown, formatHostPort(this.#address))
    if (signal.aborted || !withoutServer.includes(error.code)) return error
    if (!this.#isChecked && running < maxRunning) await this.#check(signal)
    return this.#hint === undefined ? error : new SourceError(error.code, error.message, { cause: error, hint: this.#hint })
  }

  async #check(signal: AbortSignalLike): Promise<void> {
    const { host, port } = this.#address
    // The default port was probably not configured.
    const ports = port === defaultPorts.java ? [port, defaultPorts.bedrock] : [port]
    let cancel = () => {}
    this.#isChecked = true
    running++
    try {
      const found = await withOwnSignal(signal, (own) => {
        cancel = this.#clock.after(maxMs, () => own.abort())
        const ping = async (port: number) => {
          await createRakNetReader({ host, port }, { clock: this.#clock }, this.#network, undefined)(own.signal)
          return port
        }
        return Promise.any(ports.map(ping))
      })
      const address = formatServerAddress({ edition: 'bedrock', host, port: found })
      this.#hint = `a Bedrock server answers there; to watch it, set MC_SERVER to ${address}`
    } catch {
      // No Bedrock server answers.
    } finally {
      running--
      cancel()
    }
  }
}
