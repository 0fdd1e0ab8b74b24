import { groupBy } from '../../../util/group-by.ts'
import { SourceError, toSourceError } from '../../errors.ts'
import type { ReadingMethod } from '../../protocol/management.ts'
import { JsonRpcError } from './json-rpc.ts'

export interface FailedCall {
  readonly method: ReadingMethod
  readonly error: unknown
}

/** Returns one error for all methods of a poll that failed for the same reason while others were answered. */
export function toFailures(calls: readonly FailedCall[], target: string): readonly SourceError[] {
  const failed = calls.map(({ method, error }) => {
    const { code, message } =
      error instanceof JsonRpcError ? new SourceError('unsupported', error.message) : toSourceError(error, target)
    return { method, code, reason: message.replace(/^\S+: /, '') }
  })
  return [...groupBy(failed, ({ reason }) => reason)].map(([reason, group]) => {
    const methods = group.map(({ method }) => method).join(', ')
    return new SourceError(group[0]?.code ?? 'internal', `${target}: no result of ${methods} (${reason})`)
  })
}
