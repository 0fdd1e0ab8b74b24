import { randomInt } from 'node:crypto'
import type { SnapshotOrder } from '../util/part-metrics.ts'
import type { LiveEvent } from './event.ts'

/** Number of events by which the log may exceed its capacity before it is trimmed. */
const slack = 100

/** Difference between two ids. The ids of a log are even: those of `LiveEvent.earlyBytes` are odd. */
const idStep = 1_024

/**
 * Number of ids for each position of replicas. Ids that all replicas share are multiples of four, and odd ones are those of
 * `LiveEvent.earlyBytes`. Other even ids are of this process: clients cannot continue after them, as other replicas may use them too.
 */
const idsPerPosition = 4_096

/**
 * The first id for the events of this process. Ids increase from process to process, and two processes that run at the same time
 * have different ids, so that a client that reconnects to another process does not skip its events.
 * @param wall Unix milliseconds
 */
export const firstEventId = (wall: number): number => Math.floor((wall * 1_000) / idStep) * idStep + 2 * randomInt(idStep / 2)

/**
 * The newest events, for clients that reconnect.
 * @param capacity number of events that are kept
 * @param firstId ids increase from here
 * @param order set if several replicas share the servers
 */
export function createEventLog(capacity: number, firstId: number, order?: SnapshotOrder) {
  const events: LiveEvent[] = []
  const marks = new Set<number>()
  let last = firstId
  /** The last id of an event that only this process has. */
  let lastOwn = firstId
  /** The last id that only this process has, also of a message of a list. */
  let lastUnshared = firstId
  /** The newest id that has been dropped. */
  let forgotten = firstId
  const firstOf = (position: number) => position * idsPerPosition

  /**
   * Returns a new id, higher than all before.
   * @param isSharedEvent whether the event is the same on all replicas, which then give it the same id
   */
  function nextId(isSharedEvent = false): number {
    if (order === undefined) return listId()
    const position = isSharedEvent ? order.position() : undefined
    const first = position === undefined ? 0 : firstOf(position)
    const shared = Math.max(first, last + 4 - (last % 4))
    // An id of this process that is higher than the first one of the position moves the others: they differ from those of other replicas.
    if (position !== undefined && lastUnshared < first && shared < firstOf(position + 1) - 4) {
      last = shared
      return last
    }
    lastOwn = listId()
    return lastOwn
  }

  /** Returns the id of a message of a list of all states, from which no client can resume: it would miss the others. */
  function listId(): number {
    last += order === undefined ? idStep : 4 - ((last + 2) % 4)
    lastUnshared = last
    return last
  }

  function mark(id: number): number {
    marks.add(id)
    for (const oldest of marks) {
      if (marks.size <= capacity) break
      marks.delete(oldest)
    }
    return id
  }

  /** Whether all replicas have the events after this id. Those of this process may have happened before it on other replicas. */
  const isShared = (id: number): boolean =>
    order !== undefined && id % 4 === 0 && id > lastOwn && id >= firstOf(order.completeFrom()) && id < firstOf(order.last() + 1)

  /** Whether no event after `id`, which the log has had, has been dropped. */
  const isComplete = (id: number): boolean => id >= forgotten

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
    nextId,
    listId,
    /** Returns the id of the last message of a list of all states, from which a client may resume. */
    endId(): number {
      const shared = order === undefined ? 0 : firstOf(order.last() + 1) - 4
      if (!isShared(shared) || shared < last) return mark(listId())
      last = shared
      return last
    },
    add(event: LiveEvent): void {
      events.push(event)
      forgotten = events[events.length - capacity - 1]?.id ?? forgotten
      // Removed in batches: removing the first element of an array costs as much as removing many.
      if (events.length >= capacity + slack) events.splice(0, events.length - capacity)
    },
    /** Whether a client that was sent `id` last can continue here: the log has all events after it. */
    has: (id: number): boolean =>
      isComplete(id) && (order === undefined ? marks.has(id) || events[after(id) - 1]?.id === id : isShared(id)),
    isComplete,
    /** The first event after `id`; undefined if there is none. */
    next: (id: number): LiveEvent | undefined => events[after(id)],
    /** Removes all events and marks, so that no client can resume. */
    clear(): void {
      events.length = 0
      marks.clear()
      // Also events that would have been recorded until now.
      if (order !== undefined) last = Math.max(last, firstOf(order.last() + 1) - 4)
      forgotten = last
    },
  }
}

export type EventLog = ReturnType<typeof createEventLog>
