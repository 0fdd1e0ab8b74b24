import type { Config } from './config.ts'

/** The tokens that may be replaced while the service runs; undefined if the routes are open. */
export class Tokens {
  readonly #metricsToken: string | undefined
  readonly #runToken: string | undefined
  metrics: string | undefined
  runs: string | undefined

  constructor({ metrics: { metricsToken }, runs: { runToken } }: Pick<Config, 'metrics' | 'runs'>) {
    this.#metricsToken = metricsToken
    this.#runToken = runToken
    this.metrics = metricsToken
    this.runs = runToken
  }

  /**
   * Replaces each set token by that of a newer configuration. Whether a token is set does not change after the start.
   * @returns the newer configuration with the older tokens where they were replaced, to compare the rest
   */
  replace(next: Config): Config {
    const [metricsToken, runToken] = [this.#metricsToken, this.#runToken]
    const isMetricsReplaced = metricsToken !== undefined && next.metrics.metricsToken !== undefined
    const isRunReplaced = runToken !== undefined && next.runs.runToken !== undefined
    if (isMetricsReplaced) this.metrics = next.metrics.metricsToken
    if (isRunReplaced) this.runs = next.runs.runToken
    return {
      ...next,
      metrics: { ...next.metrics, ...(isMetricsReplaced && { metricsToken }) },
      runs: { ...next.runs, ...(isRunReplaced && { runToken }) },
    }
  }
}
