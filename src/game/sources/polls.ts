import { SourceError } from '../errors.ts'

/** The polls of one source under way, so that closing the source ends them. */
export interface Polls {
  /** Runs a poll with a signal that follows the given one and is aborted on close. */
  run<T>(signal: AbortSignal, poll: (signal: AbortSignal) => Promise<T>): Promise<T>
  close(): void
}

/**
 * AbortSignal.any() with a signal that lives as long as the source would do the same, but in Node 20 and 22 every signal it
 * returns stays registered with the long-lived one.
 */
export function createPolls(target: string): Polls {
  const underWay = new Set<AbortController>()
  /** Of a poll that has ended well, so without listeners: a signal is among the dearest things a poll makes. */
  let spare: AbortController | undefined
  const reason = () => new SourceError('aborted', `${target}: no longer asked`)
  let closed = false

  return {
    async run(signal, poll) {
      if (closed) throw reason()
      signal.throwIfAborted()
      const own = spare ?? new AbortController()
      spare = undefined
      const follow = () => own.abort(signal.reason)
      signal.addEventListener('abort', follow, { once: true })
      underWay.add(own)
      try {
        const result = await poll(own.signal)
        if (!own.signal.aborted) spare = own
        return result
      } finally {
        signal.removeEventListener('abort', follow)
        underWay.delete(own)
      }
    },
    close() {
      closed = true
      for (const own of underWay) own.abort(reason())
    },
  }
}
