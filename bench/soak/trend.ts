/** A straight line through samples. */
export interface Trend {
  /** From the first to the last sample, along the line. */
  readonly growth: number
  /** Twice the standard deviation of the samples around the line: a growth below it may be chance. */
  readonly noise: number
  readonly mean: number
}

/** Linear regression (least squares). @param samples at least three pairs of time and value */
export function fitTrend(samples: readonly (readonly [at: number, value: number])[]): Trend {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanAt, meanValue] = [mean(samples.map(([at]) => at)), mean(samples.map(([, value]) => value))]
  const slope =
    samples.reduce((sum, [at, value]) => sum + (at - meanAt) * (value - meanValue), 0) /
    samples.reduce((sum, [at]) => sum + (at - meanAt) ** 2, 0)
  const squares = samples.map(([at, value]) => (value - meanValue - slope * (at - meanAt)) ** 2)
  const [first, last] = [samples[0]![0], samples.at(-1)![0]]
  return { growth: slope * (last - first), noise: 2 * Math.sqrt(mean(squares)), mean: meanValue }
}
