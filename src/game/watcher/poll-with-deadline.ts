import type { Clock } from '../../clock.ts'
import { SourceError } from '../errors.ts'
import type { Reading, Source } from '../sources/source.ts'

/** Milliseconds past the deadline that a source has to hand over the part it read; then it is left behind. */
const grace = 100

export interface Asking {
  /** Rejects with what the source throws, `timeout` or the reason of `stop`. */
  readonly reading: Promise<Reading>
  /** Ends it at once, whatever the source makes of its signal. */
  stop(reason: SourceError): void
}

/** Polls a source once, and leaves it behind where it does not end at its deadline, `timeout` milliseconds from now. */
export function ask(source: Source, timeout: number, clock: Clock): Asking {
  const deadline = new AbortController()
  let leave = (_: SourceError) => {}
  let cancel = clock.after(timeout, () => {
    const late = new SourceError('timeout', `${source.target}: no complete answer within ${timeout} ms`)
    deadline.abort(late)
    cancel = clock.after(grace, () => leave(late))
  })
  const reading = new Promise<Reading>((resolve, reject) => {
    leave = reject
    source.poll(deadline.signal).then(resolve, reject)
  }).finally(() => cancel())
  return {
    reading,
    stop(reason) {
      deadline.abort(reason)
      leave(reason)
    },
  }
}
