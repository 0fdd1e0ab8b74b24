import { requestBounded } from '../../bounded-http.ts'
import { SourceError, toSourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import type { Network } from '../../network.ts'
import { defaultPorts, formatHostPort, type HostPort } from '../../protocol/address.ts'
import { decodeJoinReply, joinPath } from '../../protocol/nethernet.ts'
import { toBedrockFields } from './bedrock-fields.ts'

const maxBytes = 64 * 1024

/**
 * The status of a Bedrock server that is reached by NetherNet: its reply to a request to join. Servers speak plain HTTP; one behind a
 * reverse proxy HTTPS, on a port other than the usual one. What answered last is tried first.
 * @throws SourceError from the function returned; `unsupported` where something else than NetherNet answers
 */
export function createNetherNetReader(
  { host, port }: HostPort,
  network: Network,
): (signal: AbortSignal) => Promise<Partial<Fields>> {
  const target = formatHostPort({ host, port })
  let schemes: readonly ('http' | 'https')[] = port === defaultPorts.bedrock ? ['http', 'https'] : ['https', 'http']

  async function join(scheme: 'http' | 'https', signal: AbortSignal): Promise<Partial<Fields>> {
    const url = new URL(`${scheme}://${target}${joinPath}`)
    const { status, body, address, seconds } = await requestBounded({ method: 'GET', url, maxBytes }, network, signal)
    if (status < 200 || status > 299)
      throw new SourceError('unsupported', `${target}: not NetherNet, the reply is HTTP ${status}`)
    return {
      ...toBedrockFields(decodeJoinReply(body.toString('utf8'))),
      transport: 'nethernet',
      ...(address !== undefined && { ip: address }),
      port,
      latency: seconds,
    }
  }

  return async (signal) => {
    const failures: unknown[] = []
    for (const scheme of schemes) {
      try {
        const fields = await join(scheme, signal)
        if (scheme !== schemes[0]) schemes = schemes.toReversed()
        return fields
      } catch (error) {
        if (signal.aborted) throw signal.reason
        failures.push(error)
      }
    }
    throw toSourceError(failures.at(-1), target)
  }
}
