import type { Config } from './config.ts'

/** The tokens that may be replaced while the service runs; undefined if the routes are open, which does not change after the start. */
export class Tokens {
  metrics: string | undefined
  runs: string | undefined

  constructor({ metrics, runs }: Pick<Config, 'metrics' | 'runs'>) {
    this.metrics = metrics.metricsToken
    this.runs = runs.runToken
  }

  /** Replaces each set token by that of a newer configuration. */
  replace({ metrics, runs }: Pick<Config, 'metrics' | 'runs'>): void {
    this.metrics &&= metrics.metricsToken ?? this.metrics
    this.runs &&= runs.runToken ?? this.runs
  }
}
