/** Runs a task, at once or when one of those before it has ended. */
export type Limiter = <T>(task: () => Promise<T>) => Promise<T>

/** @param maxConcurrent how many tasks run at once; the others wait in the order in which they came */
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
