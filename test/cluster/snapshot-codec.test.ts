import { describe, expect, it } from 'vitest'
import { IconStore } from '../../src/cluster/icon-store.ts'
import { createSnapshotCodec } from '../../src/cluster/snapshot-codec.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'

describe('createSnapshotCodec', () => {
  it('converts a snapshot to another clock, with the icon sent separately', async () => {
    const clock = manualClock(1_000)
    const icon = Buffer.from('icon')
    const fleet = fakeFleet(
      { survival: { status: { playersOnline: 3, favicon: icon }, rcon: { tickCount: { ticks: 40, at: 900 } } } },
      clock,
    )
    await fleet.pollAll()
    const [watcher] = fleet.watchers
    const [here, there] = [new IconStore(), new IconStore()]
    const text = createSnapshotCodec(here).encode(watcher!.snapshot(), clock.now() + 500)
    expect(text).not.toContain(icon.toString('base64'))
    const codec = createSnapshotCodec(there)
    const hash = here.hashOf(icon)
    expect(there.missingIn([text, text])).toEqual([hash])
    expect(codec.decode(text, 9_000).fields.favicon).toBeUndefined()
    there.hashOf(icon)
    expect(there.missingIn([text])).toEqual([])
    const snapshot = codec.decode(text, 9_000)
    expect(snapshot.fields.favicon?.value).toBe(icon)
    expect(snapshot).toMatchObject({ up: true, at: 8_500, polls: { ok: 1 } })
    expect(snapshot.lastContact).toEqual({ at: 8_500, wall: watcher!.snapshot().lastContact?.wall })
    expect(snapshot.fields.tickCount).toMatchObject({ value: { ticks: 40, at: 8_400 } })
    there.keepOnly([])
    expect(there.get(hash)).toBeUndefined()
  })

  it.each([
    ['another version', '{"version":99}'],
    ['a list', '[]'],
    ['no sources', '{"version":3,"server":"a","age":1,"polls":{},"fields":{}}'],
  ])('refuses %s', (_, text) => {
    expect(() => createSnapshotCodec(new IconStore()).decode(text, 0)).toThrow(RangeError)
  })

  it('refuses a snapshot of another server', async () => {
    const fleet = fakeFleet({ one: { status: { motd: 'one' } }, two: { status: { motd: 'two' } } }, manualClock(1_000))
    await fleet.pollAll()
    const [one, two] = [fleet.get('one')!.snapshot(), fleet.get('two')!.snapshot()]
    const codec = createSnapshotCodec(new IconStore())
    expect(() => codec.decode(codec.encode(two, 0), 0, 'one')).toThrow(RangeError)
    expect(codec.decode(codec.encode(one, 0), 0, 'one').server).toBe('one')
  })

  it('ignores members that a later release may add', () => {
    const fields = {
      newField: [1, 'status', 0],
      motd: ['x', 'newSource', 0],
      map: ['flat', 'query', 10],
      latency: [null, 'status', 0],
    }
    const text = JSON.stringify({ version: 3, server: 'a', age: 1, polls: {}, sources: [], fields })
    const { fields: decoded } = createSnapshotCodec(new IconStore()).decode(text, 100)
    expect(decoded).toEqual({ map: { value: 'flat', source: 'query' } })
  })

  it('keeps every property of a snapshot', () => {
    const snapshot: Required<ServerSnapshot> = {
      ...{ server: 'survival', demo: true, at: 900, up: true, joins: 3, leaves: 2, lastPollAt: 1_000, pollDuration: 0.02 },
      fields: { playersOnline: { value: 1, source: 'status' }, tickCount: { value: { ticks: 40, at: 850 }, source: 'rcon' } },
      sources: [{ source: 'status', target: 'survival.test', state: 'ok', duration: 0.01, lastSuccess: 1_000 }],
      lastContact: { at: 890, wall: 990 },
      mainThread: { responsive: true, delay: 0.004 },
      ...{ knownUntil: 15_890, isStale: true },
      polls: { ok: 5, timeout: 1 },
    }
    const codec = createSnapshotCodec(new IconStore())
    expect(codec.decode(codec.encode(snapshot, 950), 950)).toEqual(snapshot)
  })
})
