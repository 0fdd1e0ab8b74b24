/**
 * Returns a function that calls `work`, one call at a time and with at most one that waits: what is read may change faster than that.
 * A call that waits is `forced` if one of its callers asked for that. Never rejects.
 */
export function oneAtATime(work: (forced: boolean) => Promise<void>): (forced?: boolean) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined
  let isForced = false
  const start = () => {
    const forced = isForced
    waiting = undefined
    isForced = false
    return work(forced)
  }
  return (forced = false) => {
    isForced ||= forced
    // Later calls also work after an error.
    waiting ??= last = last.then(start).catch(() => {})
    return waiting
  }
}
