import { performance } from 'node:perf_hooks'

/** Maximum time for which long work may block the event loop, milliseconds: polls and requests run between its slices. */
const maxSliceMs = 8

/** Splits long work into slices: `if (pauses.isDue()) await pauses.take()` after each small part of it. */
export interface Pauses {
  isDue(): boolean
  /** Lets pending timers and I/O run. */
  take(): Promise<void>
}

/**
 * Starts the first slice. Awaiting a promise is not enough: timers and sockets run only in the next turn of the event loop.
 * @param now monotonic milliseconds
 */
export function createPauses(now: () => number = () => performance.now(), sliceMs = maxSliceMs): Pauses {
  let end = now() + sliceMs
  return {
    isDue: () => now() >= end,
    async take() {
      await new Promise((resolve) => setImmediate(resolve))
      end = now() + sliceMs
    },
  }
}

/** Like `map`, with pauses. */
export async function mapInSlices<T, R>(items: readonly T[], convert: (item: T) => R): Promise<readonly R[]> {
  const results: R[] = []
  const pauses = createPauses()
  for (const item of items) {
    results.push(convert(item))
    if (pauses.isDue()) await pauses.take()
  }
  return results
}
