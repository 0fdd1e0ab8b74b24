import type { Clock } from './clock.ts'

/**
 * Waits until `work` has ended, at most `maxMs` milliseconds. Rejects if `work` rejects in this time.
 * @returns what `work` resolves to; undefined if it takes longer
 */
export async function waitUpTo<T>(work: Promise<T>, maxMs: number, clock: Clock): Promise<T | undefined> {
  let cancel = () => {}
  const late = new Promise<undefined>((resolve) => {
    cancel = clock.after(maxMs, () => resolve(undefined))
  })
  return await Promise.race([work, late]).finally(() => cancel())
}
