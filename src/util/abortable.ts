/** The part of an AbortSignal that polls use. Creating an AbortSignal for each poll of thousands of servers takes too long. */
export interface AbortSignalLike {
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Resolves or rejects like the promise, or rejects with the signal's reason if it is aborted first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignalLike): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Runs `work` with a signal of its own, which is aborted with `signal`, and when the work has ended. */
export async function withOwnSignal<T>(signal: AbortSignalLike, work: (own: AbortController) => Promise<T>): Promise<T> {
  const own = new AbortController()
  const follow = () => own.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  if (signal.aborted) follow()
  try {
    return await work(own)
  } finally {
    signal.removeEventListener('abort', follow)
    own.abort()
  }
}

/** Returns an AbortSignal that is aborted when `signal` is, for functions that accept no other. */
export function toAbortSignal(signal: AbortSignalLike): AbortSignal {
  if (signal instanceof AbortSignal) return signal
  const controller = new AbortController()
  const abort = () => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return controller.signal
}
