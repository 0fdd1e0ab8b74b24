import { performance } from 'node:perf_hooks'

/**
 * Total time per turn of the event loop in which all long work blocks it, milliseconds. Polls and requests run in the rest of the
 * turn: if they need 80 % of the time, a turn takes 20 ms.
 */
const budgetMs = 4
/** The same while the event loop is overloaded: otherwise long work would get little of the time. */
const maxBudgetMs = 12
/** The budget, as a part of the turn before it: a larger part would make the turns longer and longer. */
const share = 0.1

/** Splits long work into slices: `if (pauses.isDue()) await pauses.take()` after each small part of it. */
export interface Pauses {
  isDue(): boolean
  /** Lets pending timers and I/O run. */
  take(): Promise<void>
}

/** Continue the work that is paused, in the next turn of the event loop. Each gets an equal part of the budget. */
let paused: ((part: number) => void)[] = []

function continueAll(): void {
  const all = paused
  paused = []
  for (const resume of all) resume(1 / all.length)
}

/** @returns the part of the budget for this work */
const nextTurn = (): Promise<number> =>
  new Promise((resolve) => {
    // Awaiting a promise is not enough: timers and sockets run only in the next turn of the event loop.
    if (paused.length === 0) setImmediate(continueAll)
    paused.push(resolve)
  })

/**
 * Starts the first slice.
 * @param now monotonic milliseconds
 */
export function createPauses(now: () => number = () => performance.now()): Pauses {
  let end = now() + budgetMs / (1 + paused.length)
  return {
    isDue: () => now() >= end,
    async take() {
      const begun = now()
      const part = await nextTurn()
      const ended = now()
      end = ended + part * Math.min(maxBudgetMs, Math.max(budgetMs, (ended - begun) * share))
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
