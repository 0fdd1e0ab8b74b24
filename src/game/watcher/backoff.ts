/** How the pauses after failures in a row grow. */
export interface BackoffOptions {
  /** Milliseconds to wait after the first failure. */
  readonly firstMs: number
  readonly maxMs: number
  /** Failures in a row after which to wait no longer than `firstMs`; the pause doubles with each one more. Default 1. */
  readonly steadyFailures?: number
}

/** Milliseconds to wait after `failures` failures in a row, at least 1. */
export function backoffMs(failures: number, { firstMs, maxMs, steadyFailures = 1 }: BackoffOptions): number {
  // 2 ** 1024 is infinite, which the maximum bounds as well.
  return Math.min(maxMs, firstMs * 2 ** Math.max(0, failures - steadyFailures))
}

/**
 * Shortens a pause by a random part, so that many servers are not polled at the same moment. Never lengthens it.
 * @param share at most this part of the pause, 0 to 1
 * @param random 0 <= n < 1
 */
export const withJitter = (ms: number, share: number, random: () => number): number => ms * (1 - share * random())
