import type { Config } from '../config.ts'

/** The tokens that may be replaced while the service runs; undefined where the routes are open. */
export interface Tokens {
  readonly metrics: string | undefined
  readonly runs: string | undefined
}

export interface CurrentTokens {
  /** Those that count now. */
  current(): Tokens
  /**
   * Replaces each token that there is by the one of a newer configuration. Whether there is one stays as it was at the start.
   * @returns the newer configuration with the tokens of the older one where it was replaced: what is left to compare
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
