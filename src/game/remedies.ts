import type { SourceErrorCode } from './errors.ts'
import type { SourceName } from './sources/source.ts'

type Remedies = Readonly<Partial<Record<SourceErrorCode, string>>>

const unreached = (advice: string): Remedies => ({ refused: advice, timeout: advice, unreachable: advice })
const network: Remedies = { dns: 'is the name right?' }

/** What whoever runs the server and this service may do about a failure. A directory's failures say it themselves. */
const remedies: Readonly<Partial<Record<SourceName, Remedies>>> = {
  status: { ...network, ...unreached('is the server running, and is this the address that players use?') },
  rcon: {
    ...network,
    ...unreached('are enable-rcon=true and this rcon.port in its server.properties, and may this machine connect?'),
    malformed: 'is this the rcon.port of its server.properties?',
    auth: 'the password (MC_RCON_PASSWORD) must be the rcon.password of its server.properties',
  },
  management: {
    ...network,
    ...unreached('are management-server-enabled=true and this management-server-port in its server.properties?'),
    unsupported: 'is this the management-server-port of its server.properties?',
    auth: 'the secret (MC_MANAGEMENT_SECRET) must be the management-server-secret of its server.properties',
    tls: 'trust its certificate by MC_MANAGEMENT_FINGERPRINT or MC_MANAGEMENT_CA, or use ws:// where management-server-tls-enabled=false',
  },
  query: {
    ...network,
    ...unreached('are enable-query=true and this query.port in its server.properties, and does UDP get through?'),
  },
}

export const remedyFor = (source: SourceName, code: SourceErrorCode): string | undefined => remedies[source]?.[code]
