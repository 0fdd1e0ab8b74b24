import type { AbortSignalLike } from '../../../util/abortable.ts'
import { defaultPorts, formatHostPort, type HostPort, withoutZone } from '../../../util/address.ts'
import { codeOf, SourceError, toSourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import type { Network } from '../../network.ts'
import { decodeJoinReply, joinPath } from '../../protocol/status/nethernet.ts'
import { unmeasured } from '../source.ts'
import { toBedrockFields } from './bedrock-fields.ts'

const maxBytes = 64 * 1024

/** Web servers send it if a plain request arrives on a port for HTTPS. */
const badRequest = 400

/** Returns whether the error shows that the server speaks TLS: a certificate that is not trusted, or an alert. */
function isTlsServerError({ code, cause }: SourceError): boolean {
  if (code !== 'tls' || !(cause instanceof Error)) return false
  const reason = `${codeOf(cause)} ${cause.message}`
  return !/^(?:EPROTO|ERR_SSL)/.test(reason) || /alert/i.test(reason)
}

/** Returns whether the server has replied by this scheme, so that the other one would fail too. */
const isConclusive = (error: SourceError): boolean =>
  error.code === 'unsupported' || error.code === 'too_large' || isTlsServerError(error)

/**
 * Reads the status of a Bedrock server by NetherNet: the reply to a join request. Servers use plain HTTP; a server behind a reverse
 * proxy may use HTTPS, on a port other than the default one. The scheme that worked last is tried first.
 * @returns a function that throws SourceError; `unsupported` if the reply is not a NetherNet reply
 */
export function createNetherNetReader(
  { host, port }: HostPort,
  network: Network,
  measure = unmeasured,
): (signal: AbortSignalLike) => Promise<Partial<Fields>> {
  const target = formatHostPort({ host, port })
  let schemes: readonly ('http' | 'https')[] = port === defaultPorts.bedrock ? ['http', 'https'] : ['https', 'http']

  async function join(scheme: 'http' | 'https', signal: AbortSignalLike): Promise<Partial<Fields>> {
    const url = new URL(`${scheme}://${formatHostPort({ host: withoutZone(host), port })}${joinPath}`)
    // Loads HTTP and TLS, which Java servers do not need.
    const { requestBounded } = await import('../../bounded-http.ts')
    const { status, body, address, seconds } = await requestBounded({ method: 'GET', url, host, maxBytes }, network, signal)
    if (status < 200 || status > 299) {
      const code = status === badRequest ? 'malformed' : 'unsupported'
      throw new SourceError(code, `${target}: not a NetherNet server (HTTP ${status})`)
    }
    return {
      ...measure(() => toBedrockFields(decodeJoinReply(body.toString('utf8')))),
      transport: 'nethernet',
      ...(address !== undefined && { ip: address }),
      port,
      latency: seconds,
    }
  }

  return async (signal) => {
    const failures: SourceError[] = []
    for (const scheme of schemes) {
      try {
        const fields = await join(scheme, signal)
        if (scheme !== schemes[0]) schemes = schemes.toReversed()
        return fields
      } catch (thrown) {
        if (signal.aborted) throw thrown
        const error = toSourceError(thrown, target)
        if (isConclusive(error)) throw error
        failures.push(error)
      }
    }
    // A server without TLS fails the handshake, which is not the reason.
    throw failures.find(({ code }) => code !== 'tls') ?? failures[0]
  }
}
