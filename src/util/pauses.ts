import { performance } from 'node:perf_hooks'

/**
 * Total time per turn of the event loop in which all long work blocks it, milliseconds. Polls and requests run in the rest of the
 * turn: if they need 80 % of the time, a turn takes 10 ms.
 */
const budgetMs = 2
/** The same while the event loop is overloaded: otherwise long work would get little of the time. */
const maxBudgetMs = 12
/** The budget, as a part of the turn before it: a larger part would make the turns longer and longer. */
const share = 0.1

/** The budget of work with priority, relative to the budget of other work. */
const priorityFactor = 2
/** Work has priority for so many milliseconds of each period: otherwise requests one after another could delay all polls. */
const priorityMs = 400
const priorityPeriodMs = 2_000

export interface PausesOptions {
  /**
   * While it is paused, slices of other work end as soon as possible. Default: false. With it a scrape of 10,000 servers under load
   * takes 0.3 to 0.6 s instead of 0.4 to 0.9 s (`npm run bench -- fleet`).
   */
  readonly hasPriority?: boolean
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

export type Pauses = ReturnType<typeof createPauses>

interface PausedWork {
  readonly hasPriority: boolean
  /** Continues it with this part of the budget. */
  readonly resume: (part: number) => void
}

/** Continues in the next turn of the event loop. */
let paused: PausedWork[] = []
/** Monotonic milliseconds. */
let priorityPeriodBegan = Number.NEGATIVE_INFINITY

/** Whether work has priority now. Starts a new period if the last one has ended. */
function isPriorityTime(now: number): boolean {
  if (now - priorityPeriodBegan >= priorityPeriodMs) priorityPeriodBegan = now
  return now - priorityPeriodBegan < priorityMs
}

/**
 * Returns the part of the budget for each paused work, with priority and without.
 * @param running number of other work that shares the budget
 */
function partsOf(all: readonly PausedWork[], now: number, running = 0) {
  const first = all.filter(({ hasPriority }) => hasPriority).length
  if (first > 0 && isPriorityTime(now)) return { withPriority: priorityFactor / first, others: 0 }
  const equal = 1 / (all.length + running)
  return { withPriority: equal, others: equal }
}

function continueAll(now: number): void {
  const all = paused
  paused = []
  const { withPriority, others } = partsOf(all, now)
  for (const { hasPriority, resume } of all) resume(hasPriority ? withPriority : others)
}

/** Splits long work into slices: `if (pauses.isDue()) await pauses.take()` after each small part of it. Starts the first slice. */
export function createPauses({ hasPriority = false, now = () => performance.now() }: PausesOptions = {}) {
  let end = now() + budgetMs * partsOf(paused, now(), 1)[hasPriority ? 'withPriority' : 'others']
  return {
    isDue: () => now() >= end,
    /** Lets pending timers and I/O run. */
    async take(): Promise<void> {
      const begun = now()
      const part = await new Promise<number>((resume) => {
        // Awaiting a promise is not enough: timers and sockets run only in the next turn of the event loop.
        if (paused.length === 0) setImmediate(() => continueAll(now()))
        paused.push({ hasPriority, resume })
      })
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
