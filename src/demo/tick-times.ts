const maxTicks = 1_200
const maxSeconds = 900

/** The durations of the last ticks. All times are in milliseconds. */
export class TickTimes {
  readonly #begin: number
  readonly #works = new Float64Array(maxTicks)
  readonly #perSecond = new Map<number, number>()
  #count = 0

  /** @param begin start of the first tick */
  constructor(begin: number) {
    this.#begin = begin
  }

  /** @param at end of the tick */
  add(work: number, at: number): void {
    this.#works[this.#count++ % maxTicks] = work
    const second = Math.floor(at / 1000)
    const ticks = this.#perSecond.get(second)
    this.#perSecond.set(second, (ticks ?? 0) + 1)
    if (ticks === undefined) for (const old of this.#perSecond.keys()) if (old < second - maxSeconds) this.#perSecond.delete(old)
  }

  #last(wanted: number): readonly number[] {
    const count = Math.min(wanted, this.#count, maxTicks)
    return Array.from({ length: count }, (_, back) => this.#works[(this.#count - 1 - back) % maxTicks] ?? 0)
  }

  /** Returns mean, minimum and maximum work time of the last `wanted` ticks (at most 1,200); zeros before the first tick. */
  summary(wanted: number): { readonly mean: number; readonly min: number; readonly max: number } {
    const times = this.#last(wanted)
    if (times.length === 0) return { mean: 0, min: 0, max: 0 }
    return { mean: times.reduce((sum, time) => sum + time, 0) / times.length, min: Math.min(...times), max: Math.max(...times) }
  }

  /** Returns the work times of the last 100 ticks, sorted. Missing ticks are 0, as in the game. */
  sorted(): readonly number[] {
    const times = this.#last(100)
    return [...times, ...new Array<number>(100 - times.length).fill(0)].sort((a, b) => a - b)
  }

  /** Returns ticks per second in the last `seconds` (at most 900), or since the start if that is shorter. */
  rate(seconds: number, now: number): number {
    const end = Math.floor(now / 1000)
    const span = Math.min(seconds, end - Math.ceil(this.#begin / 1000))
    if (span < 1) return 0
    let ticks = 0
    for (let second = end - span; second < end; second++) ticks += this.#perSecond.get(second) ?? 0
    return ticks / span
  }
}
