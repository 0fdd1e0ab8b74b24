import { ProtocolError } from './protocol/error.ts'

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
  | 'asleep'
  | 'aborted'
  | 'internal'

/** How far a source got before its deadline: the connection was made, or the server has accepted the login over it too. */
export type SourceProgress = 'connected' | 'accepted'

/** A source failed. The message says what happened and to which target; it never holds a secret. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
  readonly code: SourceErrorCode
  /** Only of a `timeout`: absent where nothing was heard of the server. */
  readonly progress?: SourceProgress

  constructor(
    code: SourceErrorCode,
    message: string,
    { progress, ...options }: { readonly cause?: unknown; readonly progress?: SourceProgress } = {},
  ) {
    super(message, options)
    this.code = code
    if (progress !== undefined) this.progress = progress
  }
}

/** The error of a source that got so far; any other than a `timeout` says itself what has happened. */
export const withProgress = (error: SourceError, progress: SourceProgress): SourceError =>
  error.code === 'timeout' && error.progress === undefined
    ? new SourceError(error.code, error.message, { cause: error, progress })
    : error

const closed = ['closed', 'the other end closed the connection'] as const
const noRoute = ['unreachable', 'no route to host'] as const
const denied = ['unreachable', 'blocked by the system or firewall of this machine'] as const
const unresolved = ['dns', 'the name server does not answer'] as const

/** Error codes of the system's network calls, with what they mean. */
const systemCodes: Readonly<Record<string, readonly [SourceErrorCode, string]>> = {
  ECONNREFUSED: ['refused', 'connection refused'],
  ECONNRESET: closed,
  EPIPE: closed,
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  EADDRNOTAVAIL: noRoute,
  EAFNOSUPPORT: noRoute,
  EACCES: denied,
  EPERM: denied,
  ETIMEDOUT: ['timeout', 'no answer'],
  ENOTFOUND: ['dns', 'host not found'],
  EAI_AGAIN: unresolved,
  ESERVFAIL: unresolved,
}

/** Any thrown value as a SourceError that names `target`, e.g. `mc.example.org:25565`. */
export function toSourceError(error: unknown, target: string): SourceError {
  if (error instanceof SourceError) return error
  if (error instanceof ProtocolError) return new SourceError(error.code, `${target}: ${error.message}`, { cause: error })
  const systemCode = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  // The system's message names the address, but is empty where several addresses have failed.
  const message = (error instanceof Error ? error.message : String(error)) || systemCode
  const [code, meaning] = systemCodes[systemCode] ?? ['internal', undefined]
  const text = meaning === undefined ? message : `${meaning} (${message})`
  return new SourceError(code, `${target}: ${text}`, { cause: error })
}
