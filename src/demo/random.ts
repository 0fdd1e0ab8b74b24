/** A pseudo-random number generator, which yields the same numbers for the same seed. */
export type Random = ReturnType<typeof createRandom>

/** Implements mulberry32: 32 bits of state are enough for a demo. */
export function createRandom(seed: number) {
  let state = seed >>> 0
  /** 0 <= n < 1. */
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  /** Returns an integer from `low` to `high`, both inclusive. */
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1))
  return { next, between }
}
