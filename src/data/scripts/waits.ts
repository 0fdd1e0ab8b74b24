/** Longest time that anything waits because an upstream says so, milliseconds: headers may say anything. */
export const maxWaitMs = 24 * 3_600_000

/** A wait as it may be obeyed: from 0 to {@link maxWaitMs}. */
export const clampWait = (waitMs: number): number => (Number.isNaN(waitMs) ? 0 : Math.min(Math.max(waitMs, 0), maxWaitMs))

/**
 * The time from which an upstream may be called again, at most {@link maxWaitMs} after it said so.
 * @param retryAt Unix milliseconds, from a reply or a file
 * @param from Unix milliseconds of that reply or file
 */
export const clampRetryAt = (retryAt: number, from: number): number => from + clampWait(retryAt - from)
