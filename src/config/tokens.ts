import type { Config } from './config.ts'

/** The tokens that may be replaced while the service runs; undefined if the routes are open. */
export interface Tokens {
  readonly metrics: string | undefined
  readonly runs: string | undefined
}

export interface CurrentTokens {
  /** The tokens in use. */
  current(): Tokens
  /**
   * Replaces each set token by that of a newer configuration. Whether a token is set does not change after the start.
   * @returns the newer configuration with the older tokens where they were replaced, to compare the rest
   */
  replace(next: Config): Config
}

export function createTokens(config: Config): CurrentTokens {
  const { metricsToken } = config.metrics
  const { runToken } = config.runs
  let current: Tokens = { metrics: metricsToken, runs: runToken }
  return {
    current: () => current,
    replace(next) {
      const isMetricsReplaced = metricsToken !== undefined && next.metrics.metricsToken !== undefined
      const isRunReplaced = runToken !== undefined && next.runs.runToken !== undefined
      current = {
        metrics: isMetricsReplaced ? next.metrics.metricsToken : current.metrics,
        runs: isRunReplaced ? next.runs.runToken : current.runs,
      }
      return {
        ...next,
        metrics: { ...next.metrics, ...(isMetricsReplaced && { metricsToken }) },
        runs: { ...next.runs, ...(isRunReplaced && { runToken }) },
      }
    },
  }
}
