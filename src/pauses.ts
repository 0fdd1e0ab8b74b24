import { performance } from 'node:perf_hooks'

/** Milliseconds for which long work may hold the event loop: polls and requests come between its slices. */
const maxSliceMs = 8

/** Cuts long work into slices: `if (pauses.isDue()) await pauses.take()` after each small part of it. */
export interface Pauses {
  isDue(): boolean
  /** Lets everything else that waits run. */
  take(): Promise<void>
}

/**
 * Starts the first slice. A promise alone is no pause: what waits for timers and sockets runs only when the event loop turns.
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
