import type { SourceErrorCode } from '../errors.ts'

type Hints = Readonly<Partial<Record<SourceErrorCode, string>>>

/** Hints of a source that speaks to a host and port of the server: one for each way of not getting through to it. */
export const networkHints = (unreachable: string): Hints => ({
  dns: 'is the name right?',
  refused: unreachable,
  timeout: unreachable,
  unreachable,
})
