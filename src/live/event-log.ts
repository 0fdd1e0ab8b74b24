import { randomInt } from 'node:crypto'

/** One event, encoded once; all clients are sent the same bytes. */
export interface LiveEvent {
  readonly id: number
  readonly server: string
  readonly bytes: Buffer
}

/** The newest events, for clients that come back. */
export interface EventLog {
  /** A new id, higher than all before. */
  nextId(): number
  add(event: LiveEvent): void
  /** Marks an id as one up to which a client has seen everything, without an event of its own. */
  mark(id: number): void
  /** Whether a client that has seen everything up to `id` can be sent all that it missed. */
  has(id: number): boolean
  /** The first event after `id`; undefined where there is none. */
  next(id: number): LiveEvent | undefined
}

/** Events by which the log may grow beyond its capacity before it is cut. */
const slack = 100

/** Ids rise by this much. */
const idStep = 1_024

/**
 * A first id for the events of this process. Ids rise from process to process, and those of two that run at the same time differ: a
 * client that comes back to another one must not be taken for one that has seen its events.
 * @param wall Unix milliseconds
 */
export const firstEventId = (wall: number): number => Math.floor((wall * 1_000) / idStep) * idStep + randomInt(idStep)

/**
 * @param capacity events that are remembered
 * @param firstId ids rise from here
 */
export function createEventLog(capacity: number, firstId: number): EventLog {
  const events: LiveEvent[] = []
  const marks = new Set<number>()
  let last = firstId
  /** The newest id that was forgotten. */
  let forgotten = firstId

  /** Position of the first event after `id`. */
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
      // In one go now and then: removing the first element of an array costs as much as removing many.
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
  }
}
