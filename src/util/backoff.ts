/** The growth of the pauses after consecutive failures. */
export interface BackoffOptions {
  /** Milliseconds to wait after the first failure. */
  readonly firstMs: number
  /** Each further failure doubles the pause, up to this. */
  readonly maxMs: number
}

/**
 * Returns the milliseconds to wait after consecutive failures.
 * @param failures at least 1
 */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffOptions): number {
  // 2 ** 1024 is Infinity, which is also limited to the maximum.
  return Math.min(maxMs, firstMs * 2 ** (failures - 1))
}

/**
 * Shortens a pause randomly, so that many servers are not polled at the same moment. Never lengthens it.
 * @param share maximum reduction as a fraction of the pause, 0 to 1
 * @param random 0 <= n < 1
 */
export const withJitter = (ms: number, share: number, random: () => number): number => ms * (1 - share * random())
