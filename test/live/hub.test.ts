import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { EventSink } from '../../src/live/client.ts'
import { createEventHub } from '../../src/live/hub.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'

/** The write side of a client. With `unread` bytes that wait, it reads nothing until it drains. */
function recordingSink(unread?: number) {
  const writes: string[] = []
  let isReading = unread === undefined
  const sink = Object.assign(new EventEmitter(), {
    writableLength: unread ?? 0,
    socket: null,
    write(bytes: Buffer) {
      writes.push(String(bytes))
      if (!isReading) sink.writableLength += bytes.length
      return isReading
    },
    end() {},
    destroy: () => void sink.emit('close'),
  })
  const drain = () => {
    isReading = true
    sink.writableLength = 0
    sink.emit('drain')
  }
  return { sink: sink as unknown as EventSink, writes, drain, text: () => writes.join('') }
}

/** Until ten turns of the event loop have not changed `value`. */
async function untilIdle(value: () => number): Promise<void> {
  for (let [last, idle] = [value(), 0]; idle < 10; idle = value() === last ? idle + 1 : 0) {
    last = value()
    await setImmediate()
  }
}

const idsOf = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
const status = (playersOnline: number) => ({ status: { playersOnline } })

async function hubOf(servers: number) {
  const clock = manualClock()
  const scripts = Object.fromEntries(Array.from({ length: servers }, (_, index) => [`s${index}`, status(0)]))
  const fleet = fakeFleet(scripts, clock)
  await fleet.pollAll()
  const hub = createEventHub(fleet, clock, 50)
  onTestFinished(() => hub.close())
  /** Every server has a different number of players. */
  const change = async (players: number) => {
    for (const name of Object.keys(scripts)) fleet.scripts[name] = status(players)
    await fleet.pollAll()
  }
  const connect = ({ unread, ...options }: { servers?: ReadonlySet<string>; lastId?: number; unread?: number } = {}) => {
    const client = recordingSink(unread)
    hub.connect({ sink: client.sink, ...options })
    return client
  }
  return { clock, change, connect }
}

it('sends a few events at once, and many in one write to each client within 50 ms', async () => {
  const { clock, change, connect } = await hubOf(500)
  const [all, some] = [connect(), connect({ servers: new Set(['s3', 's400']) })]
  await untilIdle(() => all.writes.length + some.writes.length)
  all.writes.length = 0
  some.writes.length = 0
  await change(1)
  expect(all.writes).toHaveLength(20)
  await clock.advance(50)
  expect(all.writes).toHaveLength(21)
  expect(idsOf(all.text())).toHaveLength(500)
  expect(idsOf(all.text())).toEqual(idsOf(all.text()).toSorted((a, b) => a - b))
  expect(idsOf(some.text())).toHaveLength(2)
  await change(2)
  expect(all.writes).toHaveLength(21)
  await clock.advance(50)
  expect(all.writes).toHaveLength(22)
  expect(idsOf(all.text())).toHaveLength(1_000)
})

it('sends a single event at once again when events are rare', async () => {
  const { clock, change, connect } = await hubOf(1)
  const client = connect()
  for (let players = 1; players < 5; players++) {
    await clock.advance(60)
    await change(players)
    expect(client.text()).toContain(`"online":${players}`)
  }
})

it('sends no duplicate and no old event to a client that connects while events are collected', async () => {
  const { clock, change, connect } = await hubOf(100)
  const first = connect()
  await change(1)
  const second = connect()
  const resumed = connect({ lastId: idsOf(first.text()).at(99)! })
  await clock.advance(100)
  expect(idsOf(first.text())).toHaveLength(200)
  expect(idsOf(second.text())).toHaveLength(100)
  expect(second.text()).not.toContain('"online":0')
  expect(idsOf(resumed.text())).toEqual(idsOf(first.text()).slice(100))
})

it('sends many clients of many servers every state once, in few writes and many turns of the event loop', async () => {
  const { change, connect } = await hubOf(1_000)
  const clients = Array.from({ length: 20 }, () => connect())
  expect(clients.at(-1)?.writes).toEqual([])
  await change(1)
  for (let turn = 0; turn < 1_000 && idsOf(clients.at(-1)?.text() ?? '').length < 1_000; turn++) await setImmediate()
  for (const { writes, text } of clients) {
    const names = [...text().matchAll(/^event: snapshot\ndata: \{"server":"(s\d+)"/gm)].map(([, name]) => name)
    expect(new Set(names)).toHaveProperty('size', 1_000)
    expect(names).toHaveLength(1_000)
    expect(writes.length).toBeLessThan(200)
  }
  // The last ones began after the change: they are sent the new states.
  expect(clients.at(-1)?.text()).not.toContain('"online":0')
})

it('sends every state again to a client that was cut off before it had received all of them', async () => {
  const { change, connect } = await hubOf(400)
  const first = connect({ unread: 0 })
  // Some states of 400 have been sent, then some of these servers change.
  const states = idsOf(first.text()).length
  expect(states).toBeLessThan(400)
  await change(1)
  first.sink.destroy()
  const ids = idsOf(first.text())
  expect(first.text()).toContain('event: change')
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  expect(new Set(ids).size).toBe(ids.length)
  for (const lastId of ids) {
    const second = connect({ lastId })
    await untilIdle(() => idsOf(second.text()).length)
    expect(second.text().match(/event: snapshot/g)).toHaveLength(400)
    second.sink.destroy()
  }
})

it('resumes after the last state, and after each event since then', async () => {
  const { clock, change, connect } = await hubOf(300)
  const first = connect()
  await untilIdle(() => first.writes.length)
  await clock.advance(60)
  await change(1)
  await clock.advance(60)
  const ids = idsOf(first.text())
  expect(ids).toHaveLength(600)
  for (const index of [299, 300, 450, 598]) {
    const second = connect({ lastId: ids[index]! })
    await untilIdle(() => second.writes.length)
    expect(idsOf(second.text())).toEqual(ids.slice(index + 1))
    second.sink.destroy()
  }
})

it('sends every state to a client that reads the events it missed too slowly', async () => {
  const { clock, change, connect } = await hubOf(700)
  const first = connect()
  await untilIdle(() => first.writes.length)
  const lastId = idsOf(first.text()).at(-1)!
  await clock.advance(60)
  await change(1)
  const slow = connect({ lastId, unread: 70_000 })
  expect(slow.text()).toBe('')
  // The log has 1,000 events.
  await change(2)
  await clock.advance(60)
  slow.drain()
  await untilIdle(() => slow.writes.length)
  expect(slow.text().match(/event: snapshot/g)).toHaveLength(700)
  expect(slow.text()).not.toContain('"online":1')
})

it('remembers events for ten minutes after the last client has left, and then compares snapshots no more', async () => {
  const { clock, change, connect } = await hubOf(2)
  const first = connect()
  await change(1)
  await clock.advance(100)
  const lastId = idsOf(first.text()).at(-1)!
  first.sink.destroy()
  await change(2)
  await clock.advance(590_000)
  const resumed = connect({ lastId })
  expect(resumed.text()).not.toContain('event: snapshot')
  expect(resumed.text().match(/"online":2/g)).toHaveLength(2)
  const newestId = idsOf(resumed.text()).at(-1)!
  resumed.sink.destroy()
  await clock.advance(610_000)
  await change(3)
  const late = connect({ lastId: newestId })
  expect(late.text().match(/event: snapshot/g)).toHaveLength(2)
  await change(4)
  await clock.advance(100)
  expect(late.text().match(/event: change/g)).toHaveLength(2)
  expect(idsOf(late.text())).toEqual(idsOf(late.text()).toSorted((a, b) => a - b))
})
