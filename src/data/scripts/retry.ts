import type { Clock } from '../../util/clock.ts'

/** Waits on the clock. @throws the signal's reason as soon as it is aborted */
export function pause(clock: Pick<Clock, 'after'>, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const onAbort = () => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.after(milliseconds, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

interface RetryOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly signal: AbortSignal
  /** Attempts after the first one. */
  readonly maxRetries: number
  /**
   * Milliseconds to wait before the next attempt; undefined: give up.
   * @param failures attempts that have failed so far, at least 1
   */
  readonly pauseMs: (error: unknown, failures: number) => number | undefined
}

/**
 * Retries an operation until it succeeds.
 * @throws what the last attempt threw, or the signal's reason as soon as it is aborted during a pause
 */
export async function retry<T>(attempt: () => Promise<T>, { clock, signal, maxRetries, pauseMs }: RetryOptions): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      const waitMs = failures > maxRetries ? undefined : pauseMs(error, failures)
      if (waitMs === undefined) throw error
      if (waitMs > 0) await pause(clock, waitMs, signal)
    }
  }
}
