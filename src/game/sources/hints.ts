import type { SourceErrorCode } from '../errors.ts'

type Hints = Readonly<Partial<Record<SourceErrorCode, string>>>

/** Hints for the connection errors of a source that connects to a host and port. */
export const networkHints = (unreachable: string): Hints => ({
  dns: 'is the name right?',
  refused: unreachable,
  timeout: unreachable,
  unreachable,
})
