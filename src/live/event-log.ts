import { randomInt } from 'node:crypto'
import type { LiveEvent } from './event.ts'

/** The newest events, for clients that reconnect. */
export interface EventLog {
  /** Returns a new id, higher than all before. */
  nextId(): number
  add(event: LiveEvent): void
  /** Marks an id as one that a client may resume from, although it has no event in the log. */
  mark(id: number): void
  /** Whether the log has all events after `id`. */
  has(id: number): boolean
  /** The first event after `id`; undefined if there is none. */
  next(id: number): LiveEvent | undefined
  /** Removes all events and marks, so that no client can resume. */
  clear(): void
}

/** Number of events by which the log may exceed its capacity before it is trimmed. */
const slack = 100

/** Difference between two ids. The ids of a log are even: those of `LiveEvent.earlyBytes` are odd. */
const idStep = 1_024

/**
 * The first id for the events of this process. Ids increase from process to process, and two processes that run at the same time
 * have different ids, so that a client that reconnects to another process does not skip its events.
 * @param wall Unix milliseconds
 */
export const firstEventId = (wall: number): number => Math.floor((wall * 1_000) / idStep) * idStep + 2 * randomInt(idStep / 2)

/**
 * @param capacity number of events that are kept
 * @param firstId ids increase from here
 */
export function createEventLog(capacity: number, firstId: number): EventLog {
  const events: LiveEvent[] = []
  const marks = new Set<number>()
  let last = firstId
  /** The newest id that has been dropped. */
  let forgotten = firstId

  /** Index of the first event after `id`. */
  function after(id: number): number {
    let [low, high] = [0, events.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((events[middle]?.id ?? 0) <= id) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    nextId() {
      last += idStep
      return last
    },
    add(event) {
      events.push(event)
      forgotten = events[events.length - capacity - 1]?.id ?? forgotten
      // Removed in batches: removing the first element of an array costs as much as removing many.
      if (events.length >= capacity + slack) events.splice(0, events.length - capacity)
    },
    mark(id) {
      marks.add(id)
      for (const oldest of marks) {
        if (marks.size <= capacity) break
        marks.delete(oldest)
      }
    },
    has: (id) => id >= forgotten && (marks.has(id) || events[after(id) - 1]?.id === id),
    next: (id) => events[after(id)],
    clear() {
      events.length = 0
      marks.clear()
      forgotten = last
    },
  }
}
