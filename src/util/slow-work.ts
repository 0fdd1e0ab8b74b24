/** Milliseconds for which reading one reply or file may hold the event loop. */
const maxMs = 100

/** Milliseconds for which a reading of the process's CPU time is used again: it takes 4 µs, 3 % of a poll (`npm run bench -- status`). */
const cpuMaxAgeMs = 20

const counts = new Map<string, number>()
let cpu = process.cpuUsage()
let cpuReadAt = performance.now()

/** Number of replies and files that a part of this process has read slowly since the start. */
export const slowWorkOf = (part: string): number => counts.get(part) ?? 0

/**
 * Runs `work`, which reads one reply or file, and returns its result. If it holds the event loop for more than 100 ms, it is counted
 * for `part`, and `onSlow` is called. The process must have used as much CPU time: it may have been suspended meanwhile.
 */
export function measureWork<T>(part: string, work: () => T, onSlow: (milliseconds: number) => void): T {
  const startedAt = performance.now()
  if (startedAt - cpuReadAt > cpuMaxAgeMs) {
    cpu = process.cpuUsage()
    cpuReadAt = startedAt
  }
  try {
    return work()
  } finally {
    const took = performance.now() - startedAt
    if (took > maxMs && usedMs() > maxMs) {
      counts.set(part, slowWorkOf(part) + 1)
      onSlow(Math.round(took))
    }
  }
}

/** For the log. @param what such as `reading a.yaml` */
export const describeSlowWork = (what: string, milliseconds: number): string =>
  `${what} took ${milliseconds} ms, in which nothing else could run`

function usedMs(): number {
  const { user, system } = process.cpuUsage(cpu)
  return (user + system) / 1_000
}
