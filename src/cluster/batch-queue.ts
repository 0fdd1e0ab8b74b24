/** Sends the newest value of each key in batches, so that the queue for a slow receiver never exceeds the number of keys. */
export interface BatchQueue<T> {
  set(key: string, value: T): void
  /** Sets a value, unless a newer one is waiting. */
  add(key: string, value: T): void
  clear(): void
}

/** Maximum number of values in one batch. */
const maxBatch = 64
/** Maximum number of batches in progress. */
const maxPending = 4

/**
 * @param send resolves when the receiver has accepted the batch; never rejects
 * @param defer calls the function later, so that a batch contains what is added until then; default: at the end of this turn of
 * the event loop
 */
export function createBatchQueue<T>(
  send: (batch: readonly (readonly [key: string, value: T])[]) => Promise<void>,
  defer: (action: () => void) => void = setImmediate,
): BatchQueue<T> {
  const waiting = new Map<string, T>()
  let pending = 0
  let isScheduled = false

  async function sendNext(): Promise<void> {
    const batch: (readonly [string, T])[] = []
    for (const entry of waiting) {
      if (batch.push(entry) === maxBatch) break
    }
    for (const [key] of batch) waiting.delete(key)
    pending++
    await send(batch)
    pending--
    schedule()
  }

  function flush(): void {
    isScheduled = false
    while (waiting.size > 0 && pending < maxPending) void sendNext()
  }

  function schedule(): void {
    if (isScheduled || waiting.size === 0) return
    isScheduled = true
    defer(flush)
  }

  return {
    set(key, value) {
      waiting.set(key, value)
      schedule()
    },
    add(key, value) {
      if (!waiting.has(key)) this.set(key, value)
    },
    clear: () => waiting.clear(),
  }
}
