/** Why a source could not be read. Also the `outcome` label of `minecraft_polls_total`. */
export type SourceErrorCode =
  | 'timeout'
  | 'refused'
  | 'unreachable'
  | 'dns'
  | 'closed'
  | 'malformed'
  | 'too_large'
  | 'auth'
  | 'tls'
  | 'unsupported'
  | 'aborted'
  | 'internal'

/** A source failed. The message says what happened and to which target; it never holds a secret. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
  readonly code: SourceErrorCode

  constructor(code: SourceErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

const closed = ['closed', 'the other end closed the connection'] as const
const noWay = ['unreachable', 'this machine has no way there'] as const
const denied = ['unreachable', 'the system or firewall of this machine does not let it send there'] as const
const unresolved = ['dns', 'the name server gives no answer'] as const

/** Of the network, with what it means. */
const systemCodes: Readonly<Record<string, readonly [SourceErrorCode, string]>> = {
  ECONNREFUSED: ['refused', 'nothing listens there'],
  ECONNRESET: closed,
  EPIPE: closed,
  EHOSTUNREACH: noWay,
  ENETUNREACH: noWay,
  EADDRNOTAVAIL: noWay,
  EAFNOSUPPORT: noWay,
  EACCES: denied,
  EPERM: denied,
  ETIMEDOUT: ['timeout', 'no answer'],
  ENOTFOUND: ['dns', 'there is no such host name'],
  EAI_AGAIN: unresolved,
  ESERVFAIL: unresolved,
}

/** Any thrown value as a SourceError that names `target`, e.g. `mc.example.org:25565`. */
export function toSourceError(error: unknown, target: string): SourceError {
  if (error instanceof SourceError) return error
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  const said = error instanceof Error ? error.message : String(error)
  const known = systemCodes[code]
  if (known === undefined) return new SourceError('internal', `${target}: ${said || code}`, { cause: error })
  const [kind, meaning] = known
  // The system's words name the very address, but of several addresses together it says nothing.
  return new SourceError(kind, `${target}: ${meaning} (${said || code})`, { cause: error })
}
