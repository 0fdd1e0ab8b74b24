import { ProtocolError } from './protocol/error.ts'

export const sourceErrorCodes = [
  'timeout',
  'refused',
  'unreachable',
  'dns',
  'closed',
  'malformed',
  'too_large',
  'auth',
  'tls',
  'unsupported',
  'asleep',
  'aborted',
  'exhausted',
  'internal',
] as const

/** Why a source could not be read. Also the `outcome` label of `minecraft_polls_total`. */
export type SourceErrorCode = (typeof sourceErrorCodes)[number]

/** How far a source got before its deadline: it connected, or it also logged in. */
export type SourceProgress = 'connected' | 'accepted'

/** A source failed. The message names the target and never contains a secret. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
  readonly code: SourceErrorCode
  /** Only set for `timeout`; absent if the connection was not established. */
  readonly progress?: SourceProgress
  /** What to check, instead of the hint of the source: set if the cause is not the server. */
  readonly hint?: string

  constructor(
    code: SourceErrorCode,
    message: string,
    { progress, hint, ...options }: { readonly cause?: unknown; readonly progress?: SourceProgress; readonly hint?: string } = {},
  ) {
    super(message, options)
    this.code = code
    if (progress !== undefined) this.progress = progress
    if (hint !== undefined) this.hint = hint
  }
}

/** Adds the progress to a `timeout` that has none; returns any other error unchanged. */
export const withProgress = (error: SourceError, progress: SourceProgress): SourceError =>
  error.code === 'timeout' && error.progress === undefined
    ? new SourceError(error.code, error.message, { cause: error, progress })
    : error

const closed = ['closed', 'connection closed by the server'] as const
const noRoute = ['unreachable', 'no route to host'] as const
const denied = ['unreachable', 'blocked by the operating system or firewall of this machine'] as const
/** This process or machine, and not the server, is the cause: the server was not asked. */
const noFiles = [
  'exhausted',
  'too many open files; raise the limit of the service (`ulimit -n`, LimitNOFILE of systemd)',
] as const
const noMemory = ['exhausted', 'this machine is out of memory'] as const
const unresolved = ['dns', 'no reply from the name server'] as const

/** System error codes of network calls. */
const systemCodes: Readonly<Record<string, readonly [SourceErrorCode, string]>> = {
  ECONNREFUSED: ['refused', 'connection refused'],
  ECONNRESET: closed,
  EPIPE: closed,
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  EADDRNOTAVAIL: noRoute,
  // A link-local address without its interface.
  EINVAL: noRoute,
  EAFNOSUPPORT: noRoute,
  EACCES: denied,
  EPERM: denied,
  ETIMEDOUT: ['timeout', 'no reply'],
  ENOTFOUND: ['dns', 'host not found'],
  EAI_AGAIN: unresolved,
  ESERVFAIL: unresolved,
  // Only of c-ares: a connection has ETIMEDOUT.
  ETIMEOUT: unresolved,
  EMFILE: noFiles,
  ENFILE: noFiles,
  ENOBUFS: noMemory,
  ENOMEM: noMemory,
}

/** The code of an error of the system or of Node.js; empty if it has none. */
export const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''

/** Converts any thrown value to a SourceError that names `target`, e.g. `mc.example.org:25565`. */
export function toSourceError(error: unknown, target: string): SourceError {
  if (error instanceof SourceError) return error
  if (error instanceof ProtocolError) return new SourceError(error.code, `${target}: ${error.message}`, { cause: error })
  const systemCode = codeOf(error)
  // The message of a system error names the address; it is empty if several addresses failed.
  const message = (error instanceof Error ? error.message : String(error)) || systemCode
  const [code, meaning] = systemCodes[systemCode] ?? ['internal', undefined]
  const text = meaning === undefined ? message : `${meaning} (${message})`
  return new SourceError(code, `${target}: ${text}`, { cause: error })
}

/** Converts an error of a TLS handshake as toSourceError() does; one that is not a system error becomes `tls`. */
export function toTlsError(error: unknown, target: string): SourceError {
  const converted = toSourceError(error, target)
  if (converted.code !== 'internal') return converted
  // OpenSSL's messages are long and contain source code locations; the reason is the useful part.
  const reason =
    error instanceof Error && 'reason' in error ? String(error.reason) : error instanceof Error ? error.message : String(error)
  return new SourceError('tls', `${target}: TLS handshake failed (${reason})`, { cause: error })
}
