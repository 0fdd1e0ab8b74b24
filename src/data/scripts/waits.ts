import { abortable } from '../../util/abortable.ts'
import type { Clock } from '../../util/clock.ts'

/** Maximum wait on behalf of an upstream, milliseconds: headers may contain any value. */
export const maxWaitMs = 24 * 3_600_000

/** Interval of what runs do once a week, milliseconds: half a day less, because daily runs do not start at the same second. */
export const weeklyMs = 6.5 * 86_400_000

/** Limits a wait to 0 to {@link maxWaitMs}. */
export const clampWait = (waitMs: number): number => (Number.isNaN(waitMs) ? 0 : Math.min(Math.max(waitMs, 0), maxWaitMs))

/**
 * Limits the time at which an upstream may be called again to {@link maxWaitMs} after its reply.
 * @param retryAt Unix milliseconds, from a reply or a file
 * @param from Unix milliseconds of that reply or file
 */
export const clampRetryAt = (retryAt: number, from: number): number => from + clampWait(retryAt - from)

/** Waits on the clock. @throws the signal's reason as soon as it is aborted */
export function pause(clock: Pick<Clock, 'after'>, milliseconds: number, signal: AbortSignal): Promise<void> {
  let cancel = () => {}
  const waited = new Promise<void>((resolve) => {
    cancel = clock.after(milliseconds, resolve)
  })
  return abortable(waited, signal).finally(() => cancel())
}
