/** The durations of the last ticks. All times are in milliseconds. */
export interface TickTimes {
  /** @param at end of the tick */
  add(work: number, at: number): void
  /** Returns mean, minimum and maximum work time of the last `count` ticks (at most 1,200); zeros before the first tick. */
  summary(count: number): { readonly mean: number; readonly min: number; readonly max: number }
  /** Returns the work times of the last 100 ticks, sorted. Missing ticks are 0, as in the game. */
  sorted(): readonly number[]
  /** Returns ticks per second in the last `seconds` (at most 900), or since the start if that is shorter. */
  rate(seconds: number, now: number): number
}

const maxTicks = 1_200
const maxSeconds = 900

/** @param begin start of the first tick */
export function createTickTimes(begin: number): TickTimes {
  const works = new Float64Array(maxTicks)
  const perSecond = new Map<number, number>()
  let count = 0

  function last(wanted: number): readonly number[] {
    return Array.from({ length: Math.min(wanted, count, maxTicks) }, (_, back) => works[(count - 1 - back) % maxTicks] ?? 0)
  }

  return {
    add(work, at) {
      works[count++ % maxTicks] = work
      const second = Math.floor(at / 1000)
      const sum = perSecond.get(second)
      perSecond.set(second, (sum ?? 0) + 1)
      if (sum === undefined) for (const old of perSecond.keys()) if (old < second - maxSeconds) perSecond.delete(old)
    },
    summary(wanted) {
      const times = last(wanted)
      if (times.length === 0) return { mean: 0, min: 0, max: 0 }
      return { mean: times.reduce((sum, time) => sum + time, 0) / times.length, min: Math.min(...times), max: Math.max(...times) }
    },
    sorted() {
      const times = last(100)
      return [...times, ...new Array<number>(100 - times.length).fill(0)].sort((a, b) => a - b)
    },
    rate(seconds, now) {
      const end = Math.floor(now / 1000)
      const span = Math.min(seconds, end - Math.ceil(begin / 1000))
      if (span < 1) return 0
      let ticks = 0
      for (const [second, sum] of perSecond) if (second >= end - span && second < end) ticks += sum
      return ticks / span
    },
  }
}
