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

/** Of the network; EACCES and EPERM are a firewall's or the system's own refusal to send there. */
const systemCodes: Readonly<Record<string, SourceErrorCode>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EAFNOSUPPORT: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  ETIMEDOUT: 'timeout',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ESERVFAIL: 'dns',
}

/** Any thrown value as a SourceError that names `target`, e.g. `mc.example.org:25565`. */
export function toSourceError(error: unknown, target: string): SourceError {
  if (error instanceof SourceError) return error
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  const reason = error instanceof Error ? error.message : String(error)
  return new SourceError(systemCodes[code] ?? 'internal', `${target}: ${reason}`, { cause: error })
}
