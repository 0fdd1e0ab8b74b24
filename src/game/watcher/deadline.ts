import type { Clock } from '../../clock.ts'

/** The time that one poll has for everything it does: the directory, names and all sources. */
export interface Deadline {
  /** Monotonic milliseconds. */
  readonly at: number
  readonly timeoutMs: number
  /** Milliseconds left, 0 once it is over. */
  left(): number
}

/** A deadline `timeoutMs` from now. */
export function createDeadline(clock: Clock, timeoutMs: number): Deadline {
  const at = clock.now() + timeoutMs
  return { at, timeoutMs, left: () => Math.max(0, at - clock.now()) }
}

/** Waits until `work` has ended, at most `maxMs`. Rejects with what `work` rejects with in this time. */
export async function waitAtMost(work: Promise<void>, maxMs: number, clock: Clock): Promise<void> {
  let cancel = () => {}
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(maxMs, resolve)
  })
  await Promise.race([work, late]).finally(() => cancel())
}
