import { decimal, parseMilliseconds, toNumber } from '../decimal.ts'

export type TickState = 'running' | 'lagging' | 'frozen' | 'sprinting'

/** Durations in seconds over the last 100 ticks: the time spent working, without the pause between ticks. */
export interface TickQuery {
  readonly state: TickState
  /** Target ticks per second. */
  readonly target: number
  readonly mean: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

const states: readonly (readonly [RegExp, TickState])[] = [
  [/^The game is running, but can't keep up with the target tick rate/, 'lagging'],
  [/^The game (?:is running|runs) normally/, 'running'],
  [/^The game is frozen/, 'frozen'],
  [/^The game is sprinting/, 'sprinting'],
]

const numbers = new RegExp(
  `Target tick rate: (?<target>${decimal}) per second(?: \\(ignored, reference only\\))?\\.\\s*` +
    `Average time per tick: (?<mean>${decimal})ms(?: \\(Target: ${decimal}ms\\))?\\s*` +
    `Percentiles: P50: (?<p50>${decimal})ms P95: (?<p95>${decimal})ms P99: (?<p99>${decimal})ms(?:, s|\\. S)ample: \\d+\\s*$`,
)

/** Parses the reply to `tick query` (1.20.3 and later), with its messages joined; undefined for any other text. */
export function parseTickQuery(reply: string): TickQuery | undefined {
  const found = states.find(([pattern]) => pattern.test(reply))
  const groups = numbers.exec(reply)?.groups
  if (found === undefined || groups === undefined) return undefined
  return {
    state: found[1],
    target: toNumber(groups.target),
    mean: parseMilliseconds(groups.mean),
    p50: parseMilliseconds(groups.p50),
    p95: parseMilliseconds(groups.p95),
    p99: parseMilliseconds(groups.p99),
  }
}
