import type { Clock } from '../util/clock.ts'
import type { LiveEvent } from './event.ts'

/** Events within a window of time that are sent one by one. Further ones are collected and sent to each client in one write. */
const maxSingle = 20
/** The same in writes: a write to a client takes about 25 µs. At least one event is sent alone. */
const maxSingleWrites = 200
const windowMs = 50
/** The same for many clients, at most `maxWindowMs`. */
const windowMsPerClient = 1
const maxWindowMs = 150
/** Bytes of collected events after which they are sent early. */
const maxBytes = 64 * 1024

/** @param joined returns the bytes of all events */
export type SendEvents = (events: readonly LiveEvent[], joined: () => Buffer) => void

/**
 * Sends a few events at once and collects many: a write to each of 1,000 clients takes milliseconds.
 * @param countClients returns the number of clients
 */
export function createEventBatch(clock: Clock, send: SendEvents, countClients: () => number = () => 1) {
  let events: LiveEvent[] = []
  let bytes = 0
  let cancelFlush = () => {}
  /** End of the time window in which events are counted, and their number. */
  let windowEnd = Number.NEGATIVE_INFINITY
  let inWindow = 0

  /** @param count events in the previous window: after many of them the next ones are collected too */
  function openWindow(now: number, count: number): void {
    windowEnd = now + Math.min(maxWindowMs, Math.max(windowMs, countClients() * windowMsPerClient))
    inWindow = count
  }

  /** Sends the collected events now. */
  function flush(): void {
    if (events.length === 0) return
    const collected = events
    events = []
    bytes = 0
    cancelFlush()
    openWindow(clock.now(), collected.length)
    let joined: Buffer | undefined
    send(collected, () => {
      joined ??= Buffer.concat(collected.map((event) => event.bytes))
      return joined
    })
  }

  return {
    flush,
    /** The collected events, which no flush has sent yet. */
    pending: (): readonly LiveEvent[] => events,
    add(event: LiveEvent): void {
      const now = clock.now()
      if (now >= windowEnd) openWindow(now, 0)
      if (events.length === 0 && ++inWindow <= Math.min(maxSingle, Math.max(1, maxSingleWrites / countClients()))) {
        send([event], () => event.bytes)
        return
      }
      events.push(event)
      bytes += event.bytes.length
      if (bytes >= maxBytes) flush()
      else if (events.length === 1) cancelFlush = clock.after(windowEnd - now, flush)
    },
  }
}
