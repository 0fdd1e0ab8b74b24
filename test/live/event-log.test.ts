import { describe, expect, it } from 'vitest'
import { LiveEvent } from '../../src/live/event.ts'
import { createEventLog, firstEventId } from '../../src/live/event-log.ts'

const eventOf = (id: number) => new LiveEvent(id, 'a', 'change', {})

function logOf(capacity: number, events: number) {
  const log = createEventLog(capacity, 10_000)
  const ids = Array.from({ length: events }, () => {
    const id = log.nextId()
    log.add(eventOf(id))
    return id
  })
  return { log, ids }
}

describe('createEventLog', () => {
  it('finds the events after an id', () => {
    const { log, ids } = logOf(10, 3)
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
    expect(log.next(ids[0]!)?.id).toBe(ids[1])
    expect(log.next(ids[2]!)).toBeUndefined()
  })

  it('has only the newest events, and no id of another log', () => {
    const { log, ids } = logOf(10, 500)
    expect(ids.map(log.has)).toEqual(ids.map((_, index) => index >= 489))
    expect(log.has(ids[499]! + 1)).toBe(false)
    expect(log.has(17)).toBe(false)
  })

  it('has a marked id until the events after it have been dropped', () => {
    const { log } = logOf(10, 1)
    expect(log.has(log.nextId())).toBe(false)
    const id = log.endId()
    for (let count = 0; count < 10; count++) log.add(eventOf(log.nextId()))
    expect(log.has(id)).toBe(true)
    log.add(eventOf(log.nextId()))
    expect(log.has(id)).toBe(false)
  })

  it('has nothing after clear(), and its ids still increase', () => {
    const { log, ids } = logOf(10, 5)
    log.clear()
    expect(ids.map(log.has)).toEqual(ids.map(() => false))
    expect(log.next(0)).toBeUndefined()
    expect(log.nextId()).toBeGreaterThan(ids[4]!)
  })
})

describe('firstEventId', () => {
  it('is an even safe integer that increases with time', () => {
    const now = Date.now()
    for (let day = 0; day < 36_500; day += 365) {
      const id = firstEventId(now + day * 86_400_000)
      expect(Number.isSafeInteger(id)).toBe(true)
      expect(id % 2).toBe(0)
    }
    expect(firstEventId(now + 10)).toBeGreaterThan(firstEventId(now))
  })
})

describe('createEventLog of a replica', () => {
  /** A log of a replica that has applied everything since the first position. */
  function replicaLog() {
    const at = { position: undefined as number | undefined, last: 10 }
    const log = createEventLog(1_000, 0, {
      position: () => at.position,
      last: () => at.last,
      completeFrom: () => 10,
      isWatched: () => true,
      watchFor: () => {},
    })
    /** @param position of the entry of the stream; undefined: an event of this replica only */
    function add(position: number | undefined): number {
      at.position = position
      at.last = position ?? at.last
      const id = log.nextId(true)
      log.add(eventOf(id))
      return id
    }
    return { log, add }
  }

  it('continues after an event of another replica', () => {
    const [a, b] = [replicaLog(), replicaLog()]
    expect([11, 12, 12].map(a.add)).toEqual([11, 12, 12].map(b.add))
    expect(b.log.has(a.add(13))).toBe(false)
    b.add(13)
    expect(b.log.has(a.add(14))).toBe(false)
    expect(a.log.has(b.add(14))).toBe(true)
  })

  it('does not continue if it may have events of its own that happened earlier on the other replica', () => {
    for (let round = 0; round < 50; round++) {
      const [a, b] = [replicaLog(), replicaLog()]
      for (const { add } of [a, b]) add(11)
      const own = b.add(undefined)
      const shared = Array.from({ length: 100 }, (_, index) => [a.add(12 + index), b.add(12 + index)] as const)
      for (const [id] of shared) {
        const isContinued = b.log.has(id)
        if (isContinued) expect(b.log.next(id - 1)?.id ?? id, 'the same event').toBe(id)
        expect(isContinued && own > id, 'its own event would follow').toBe(false)
      }
      expect(shared.at(-1)?.[0]).toBe(shared.at(-1)?.[1])
    }
  })

  it('does not continue after an event that other replicas have not, as it may have the id of another event there', () => {
    const [a, b] = [replicaLog(), replicaLog()]
    for (const { add } of [a, b]) add(11)
    const own = [1, 2, 3].map(() => a.add(undefined))
    for (let count = 0; count < 3; count++) b.add(undefined)
    for (const { log } of [a, b]) expect(own.map(log.has)).toEqual([false, false, false])
    expect(own.map(a.log.isComplete)).toEqual([true, true, true])
  })

  it('continues after an event that was followed by lists of all states for other clients', () => {
    const [a, b] = [replicaLog(), replicaLog()]
    const ids = [11, 12].map((position) => {
      const id = a.add(position)
      for (let count = 0; count < 30; count++) expect(a.log.has(a.log.listId())).toBe(false)
      expect(b.add(position)).toBe(id)
      return id
    })
    for (const { log } of [a, b]) expect(ids.map(log.has)).toEqual([true, true])
    expect(b.log.has(b.log.endId()), 'the end of a list').toBe(true)
  })
})
