/**
 * Returns a function that reads, one call at a time and with at most one that waits: lists may change faster than they can be read.
 * A call that waits is `forced` if one of its callers asked for that. Never rejects.
 */
export function oneAtATime(read: (forced: boolean) => Promise<void>): (forced?: boolean) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined
  let isForced = false
  const start = () => {
    const forced = isForced
    waiting = undefined
    isForced = false
    return read(forced)
  }
  return (forced = false) => {
    isForced ||= forced
    // Later calls also read after an error.
    waiting ??= last = last.then(start).catch(() => {})
    return waiting
  }
}
