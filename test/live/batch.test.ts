import { expect, it } from 'vitest'
import { createEventBatch, type SendEvents } from '../../src/live/batch.ts'
import { LiveEvent } from '../../src/live/event.ts'
import { manualClock } from '../helpers/manual-clock.ts'

/** An event of at least `length` bytes. */
const eventOf = (id: number, length = 1) => new LiveEvent(id, 'a', 'x'.repeat(length), {})

function start(clients = 1) {
  const clock = manualClock()
  const sent: (readonly number[])[] = []
  const send: SendEvents = (events, joined) => {
    expect(joined().length).toBe(events.reduce((sum, { bytes }) => sum + bytes.length, 0))
    sent.push(events.map(({ id }) => id))
  }
  const batch = createEventBatch(clock, send, () => clients)
  return { clock, sent, batch }
}

it('sends twenty events within 50 ms one by one and the others in one write', async () => {
  const { clock, sent, batch } = start()
  for (let id = 0; id < 30; id++) batch.add(eventOf(id))
  expect(sent).toEqual(Array.from({ length: 20 }, (_, id) => [id]))
  await clock.advance(50)
  expect(sent.slice(20)).toEqual([Array.from({ length: 10 }, (_, index) => 20 + index)])
  await clock.advance(50)
  batch.add(eventOf(30))
  expect(sent.at(-1)).toEqual([30])
})

it('sends fewer events one by one and collects longer for many clients, but never more than 150 ms', async () => {
  for (const [clients, single, windowMs] of [
    [10, 20, 50],
    [100, 2, 100],
    [1_000, 1, 150],
  ] as const) {
    const { clock, sent, batch } = start(clients)
    for (let id = 0; id < 30; id++) batch.add(eventOf(id))
    expect(batch.pending()).toHaveLength(30 - single)
    await clock.advance(windowMs - 1)
    expect(sent).toHaveLength(single)
    await clock.advance(1)
    expect(sent).toHaveLength(single + 1)
    expect(batch.pending()).toEqual([])
  }
})

it('sends collected events early once they have 64 KiB, and all of them at flush()', () => {
  const { sent, batch } = start()
  for (let id = 0; id < 22; id++) batch.add(eventOf(id, 40_000))
  expect(sent.slice(20)).toEqual([[20, 21]])
  const early = start()
  for (let id = 0; id < 22; id++) early.batch.add(eventOf(id))
  expect(early.sent).toHaveLength(20)
  early.batch.flush()
  early.batch.flush()
  expect(early.sent.slice(20)).toEqual([[20, 21]])
})
