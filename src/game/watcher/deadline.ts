import type { Clock } from '../../util/clock.ts'

/** The deadline of one poll, including reading the directory, resolving names and polling all sources. */
export interface Deadline {
  /** Monotonic milliseconds. */
  readonly at: number
  readonly timeoutMs: number
  /** Returns the milliseconds until the deadline, 0 after it. */
  remainingMs(): number
}

/** Creates a deadline `timeoutMs` after `startedAt`, monotonic milliseconds; default: from now. */
export function createDeadline(clock: Clock, timeoutMs: number, startedAt = clock.now()): Deadline {
  const at = startedAt + timeoutMs
  return { at, timeoutMs, remainingMs: () => Math.max(0, at - clock.now()) }
}

/** Waits until `work` has ended, at most `maxMs` milliseconds. Rejects if `work` rejects in this time. */
export async function waitUpTo(work: Promise<void>, maxMs: number, clock: Clock): Promise<void> {
  let cancel = () => {}
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(maxMs, resolve)
  })
  await Promise.race([work, late]).finally(() => cancel())
}
