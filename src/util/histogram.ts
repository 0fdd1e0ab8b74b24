/** Upper bounds of the buckets of durations, seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

export interface Bucket {
  /** Seconds; Infinity for the last bucket. */
  readonly upperBound: number
  /** Number of observations up to the bound, cumulative. */
  readonly count: number
}

/** A distribution of durations. */
export type Histogram = ReturnType<typeof createHistogram>

/** Creates a histogram. Not that of prom-client, which takes ten times as long per observation. */
export function createHistogram() {
  /** Per bucket, not cumulative; the last one counts values above all bounds. */
  const counts = Array.from({ length: bounds.length + 1 }, () => 0)
  let sum = 0
  let count = 0
  return {
    /** Unix seconds. */
    createdAt: Date.now() / 1000,
    observe(seconds: number): void {
      let bucket = 0
      while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket++
      counts[bucket] = (counts[bucket] ?? 0) + 1
      sum += seconds
      count++
    },
    /** Sum of the observations, seconds. */
    get sum() {
      return sum
    },
    get count() {
      return count
    },
    /** The cumulative buckets, by bound. */
    buckets(): readonly Bucket[] {
      let total = 0
      return counts.map((own, index) => {
        total += own
        return { upperBound: bounds[index] ?? Number.POSITIVE_INFINITY, count: total }
      })
    },
  }
}
