import type { Log } from '../../../util/log.ts'
import { SourceError, toSourceError } from '../../errors.ts'
import type { ReadingMethod } from '../../protocol/management.ts'
import { JsonRpcError } from './json-rpc.ts'

export interface FailedCall {
  readonly method: ReadingMethod
  readonly error: unknown
}

/** Reports the calls of a poll that failed while others were answered. Each method is logged once until it is answered again. */
export class FailedCalls {
  readonly #target: string
  readonly #log: Log
  #logged: ReadonlySet<ReadingMethod> = new Set()

  constructor(target: string, log: Log) {
    this.#target = target
    this.#log = log
  }

  /** Takes all failed calls of one poll. Returns one error for all methods that failed for the same reason. */
  report(calls: readonly FailedCall[]): readonly SourceError[] {
    const failures = [...groupByReason(calls, this.#target)].map(([reason, { code, methods }]) => {
      const failure = new SourceError(code, `${this.#target}: no result of ${methods.join(', ')} (${reason})`)
      if (!methods.every((method) => this.#logged.has(method)))
        this.#log.warn({ source: 'management', code }, `${failure.message}; other calls are answered`)
      return failure
    })
    this.#logged = new Set(calls.map(({ method }) => method))
    return failures
  }
}

type Group = Pick<SourceError, 'code'> & { readonly methods: ReadingMethod[] }

function groupByReason(calls: readonly FailedCall[], target: string): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>()
  for (const { method, error } of calls) {
    const { code, message } =
      error instanceof JsonRpcError ? new SourceError('unsupported', error.message) : toSourceError(error, target)
    const reason = message.replace(/^\S+: /, '')
    const group = groups.get(reason) ?? { code, methods: [] }
    group.methods.push(method)
    groups.set(reason, group)
  }
  return groups
}
