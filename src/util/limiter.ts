/** Runs a task immediately, or when an earlier one has ended. */
export type Limiter = <T>(task: () => Promise<T>) => Promise<T>

/** @param maxConcurrent number of tasks that run concurrently; the others wait in order */
export function createLimiter(maxConcurrent: () => number): Limiter {
  const waiting: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running < maxConcurrent()) running++
    else await new Promise<void>((start) => waiting.push(start))
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
