import type { Clock } from './clock.ts'

/** Waits until `work` has ended, at most `maxMs` milliseconds. Rejects if `work` rejects in this time. */
export async function waitUpTo(work: Promise<void>, maxMs: number, clock: Clock): Promise<void> {
  let cancel = () => {}
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(maxMs, resolve)
  })
  await Promise.race([work, late]).finally(() => cancel())
}
