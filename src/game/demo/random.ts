/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** 0 <= n < 1. */
  next(): number
  /** An integer, both ends included. */
  between(low: number, high: number): number
}

/** The mulberry32 generator: 32 bits of state are plenty for a world that is only looked at. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return { next, between: (low, high) => low + Math.floor(next() * (high - low + 1)) }
}
