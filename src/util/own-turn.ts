const waiting: (() => void)[] = []

function runNext(): void {
  const work = waiting.shift()
  if (waiting.length > 0) setImmediate(runNext)
  work?.()
}

/**
 * Runs long work that cannot be split in a turn of the event loop in which no other such work runs, so that requests and polls wait for
 * one piece of it and not for all that arrived at once. It must not throw.
 */
export function inOwnTurn(work: () => void): void {
  if (waiting.push(work) === 1) setImmediate(runNext)
}
