import { describe, expect, it } from 'vitest'
import { SharedWatcher } from '../../src/cluster/shared-watcher.ts'
import type { SnapshotOrigin } from '../../src/cluster/snapshot-exchange.ts'
import { SourceError } from '../../src/game/errors.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { fakeFleet, type Script, testPoll } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'

const up = { playersOnline: 3, motd: 'hello', tickCount: { ticks: 40, at: 900 } }

/** A shared watcher, and a function that publishes the state from another process. */
async function share(scripts: Script = { status: up }) {
  const clock = manualClock()
  const other = fakeFleet({ survival: { status: up } }, clock)
  const own: ServerSnapshot[] = []
  const createWatcher = () => fakeFleet({ survival: scripts }, clock).watchers[0]!
  let numbers = 0
  const watcher = new SharedWatcher({ name: 'survival', sources: {} }, createWatcher, {
    settings: testPoll,
    clock,
    onPolled(_key, snapshot) {
      own.push(snapshot)
      watcher.apply(snapshot, { from: 'stream', member: 'own', epoch: 2, number: ++numbers })
    },
    onPublish() {},
    onClose() {},
  })
  watcher.start()
  await other.pollAll()
  const newest = () => other.watchers[0]!.snapshot()
  const receive = (snapshot: ServerSnapshot, from: SnapshotOrigin['from'] = 'stream', epoch = 2) =>
    watcher.apply(snapshot, { from, member: from === 'stream' ? 'other' : '', epoch, number: ++numbers })
  return { receive, clock, other, watcher, own, newest }
}

describe('createSharedWatcher', () => {
  it('publishes received snapshots, and no values before the first', async () => {
    const { watcher, newest, receive } = await share()
    expect(watcher.snapshot()).toMatchObject({ server: 'survival', fields: {}, sources: [], polls: {} })
    receive(newest())
    expect(watcher.snapshot()).toBe(newest())
    expect(watcher.isPolledHere).toBe(false)
  })

  it('keeps the last snapshot until the first poll of the new owner has ended, in both directions', async () => {
    const { clock, other, watcher, own, newest, receive } = await share()
    receive(newest())
    const received = newest()
    watcher.own(1_000)
    expect(watcher.snapshot()).toBe(received)
    await clock.advance(1_000)
    expect(watcher.isPolledHere).toBe(true)
    expect(watcher.snapshot()).toBe(own[0])
    watcher.disown()
    expect(watcher.snapshot()).toBe(own[0])
    await other.pollAll()
    receive(newest(), 'stream', 3)
    // Polled at the same time: unknown which one is newer.
    expect(watcher.snapshot()).toBe(own[0])
    await clock.advance(100)
    await other.pollAll()
    receive(newest(), 'stream', 3)
    expect(watcher.snapshot()).toBe(newest())
    await clock.advance(20_000)
    expect(own).toHaveLength(1)
  })

  it.each([
    ['up', { status: up }],
    ['down', { status: new SourceError('refused', 'x: connection refused') }],
  ] as const)(
    'makes all values of a server that was %s unknown once no process has polled it for staleAfter',
    async (_, script) => {
      const { clock, other, watcher, newest, receive } = await share()
      Object.assign(other.scripts.survival!, script)
      await other.pollAll()
      receive(newest())
      await clock.advance(testPoll.staleAfter - 1)
      watcher.expire(clock.now())
      expect(watcher.snapshot()).toBe(newest())
      expect(watcher.isUnknown).toBe(false)
      const seen: ServerSnapshot[] = []
      watcher.subscribe((snapshot) => seen.push(snapshot))
      await clock.advance(1)
      expect(watcher.isUnknown).toBe(true)
      watcher.expire(clock.now())
      watcher.expire(clock.now())
      expect(seen).toHaveLength(1)
      expect(watcher.snapshot().up).toBeUndefined()
      expect(watcher.snapshot().fields).toEqual({})
      expect(watcher.snapshot().sources).toMatchObject([{ source: 'status', state: 'pending' }])
      receive(newest())
      expect(watcher.snapshot()).toBe(newest())
    },
  )

  it('is unknown while the values that it receives are too old, unless no source connects to the server', async () => {
    const { clock, other, watcher, newest, receive } = await share()
    expect(watcher.isUnknown).toBe(false)
    const { up, knownUntil, lastContact, ...old } = newest()
    receive({ ...old, isStale: true, sources: [{ source: 'directory', target: '/srv', state: 'ok' }] })
    expect(watcher.isUnknown).toBe(false)
    receive(newest())
    // Each of them is late by more than `staleAfter`.
    for (let late = newest(), poll = 0; poll < 3; late = newest(), poll++) {
      await clock.advance(testPoll.staleAfter)
      await other.pollAll()
      receive(late)
      expect(watcher.snapshot().up).toBeUndefined()
      expect(watcher.isUnknown).toBe(true)
    }
    receive(newest())
    expect(watcher.isUnknown).toBe(false)
  })

  it('ignores snapshots that are older than the current one', async () => {
    const { clock, other, watcher, newest, receive } = await share()
    const old = newest()
    await clock.advance(5_000)
    await other.pollAll()
    receive(old, 'stored')
    expect(watcher.snapshot()).toBe(old)
    receive(newest(), 'stream', 3)
    const current = newest()
    // Stored before, of a previous owner, or of one that was suspended.
    receive(old, 'stored', 4)
    await clock.advance(10)
    await other.pollAll()
    receive(newest(), 'stored', 2)
    expect(watcher.snapshot()).toBe(current)
    watcher.apply(newest(), { from: 'stream', member: 'other', epoch: 3, number: 0 })
    expect(watcher.snapshot()).toBe(current)
    const later = await share()
    await later.clock.advance(testPoll.staleAfter)
    later.receive(later.newest(), 'stored')
    expect(later.watcher.snapshot().up).toBeUndefined()
  })

  it('sends nothing that it polled before it was suspended for staleAfter: other processes have newer values', async () => {
    const { clock, watcher, own } = await share()
    watcher.own(0)
    await clock.advance(0)
    clock.suspend(testPoll.staleAfter)
    watcher.repeat(clock.now(), 0)
    expect(watcher.snapshot().up).toBeUndefined()
    watcher.repeat(clock.now(), 0)
    expect(own).toHaveLength(1)
    await clock.advance(testPoll.interval)
    expect(own.slice(1)).toContainEqual(expect.objectContaining({ up: true }))
  })

  it('keeps the values of the other process until they are stale, and its last contact, if its own polls fail', async () => {
    const { clock, watcher, own, newest, receive } = await share({ status: new SourceError('refused', 'x: connection refused') })
    receive(newest())
    watcher.own(0)
    await clock.advance(0)
    const { fields, lastContact } = newest()
    expect(own[0]).toMatchObject({ up: false, fields, lastContact })
    await clock.advance(testPoll.staleAfter + testPoll.interval)
    expect(watcher.snapshot()).toMatchObject({ up: false, lastContact, isStale: true })
    expect(watcher.snapshot().fields).toEqual({})
  })

  it('spreads the second and later polls of servers that were taken over at the same time over the interval', async () => {
    const clock = manualClock()
    const names = Array.from({ length: 40 }, (_, index) => `s${index}`)
    const polls = new Map<string, number[]>(names.map((name) => [name, []]))
    const fleet = fakeFleet(Object.fromEntries(names.map((name) => [name, { status: up }])), clock)
    const onPolled = (_key: string, { server, at }: ServerSnapshot) => void polls.get(server)?.push(at)
    for (const name of names) {
      const watcher = new SharedWatcher({ name, sources: {} }, () => fleet.get(name)!, {
        ...{ settings: testPoll, clock, onPolled },
        onPublish() {},
        onClose() {},
      })
      watcher.start()
      watcher.own(0)
    }
    await clock.advance(3 * testPoll.interval)
    const all = [...polls.values()]
    expect(new Set(all.map(([first]) => first)).size).toBe(1)
    for (const [first, second, third] of all) {
      expect(second! - first!).toBeLessThanOrEqual(testPoll.interval)
      expect(third! - second!).toBe(testPoll.interval)
    }
    const quarters = new Set(all.map(([, second]) => Math.floor((4 * (second! % testPoll.interval)) / testPoll.interval)))
    expect(quarters.size).toBe(4)
  })
})
