import { describe, expect, it } from 'vitest'
import { createIconStore } from '../../src/cluster/icon-store.ts'
import { createSnapshotCodec } from '../../src/cluster/snapshot-codec.ts'
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
    const [here, there] = [createIconStore(), createIconStore()]
    const text = createSnapshotCodec(here).encode(watcher!.snapshot(), clock.now() + 500)
    expect(text).not.toContain(icon.toString('base64'))
    const codec = createSnapshotCodec(there)
    const hash = here.hashOf(icon)
    const first = codec.decode(text, 9_000)
    expect(first.missingIcon).toBe(hash)
    expect(first.snapshot.fields.favicon).toBeUndefined()
    there.add(hash, icon)
    const { snapshot, missingIcon } = codec.decode(text, 9_000)
    expect(missingIcon).toBeUndefined()
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
    ['no sources', '{"version":2,"server":"a","age":1,"polls":{},"fields":{}}'],
  ])('refuses %s', (_, text) => {
    expect(() => createSnapshotCodec(createIconStore()).decode(text, 0)).toThrow(RangeError)
  })

  it('ignores members that a later release may add', () => {
    const fields = {
      newField: [1, 'status', 0],
      motd: ['x', 'newSource', 0],
      map: ['flat', 'query', 10],
      latency: [null, 'status', 0],
    }
    const text = JSON.stringify({ version: 2, server: 'a', age: 1, polls: {}, sources: [], fields })
    const { snapshot } = createSnapshotCodec(createIconStore()).decode(text, 100)
    expect(snapshot.fields).toEqual({ map: { value: 'flat', source: 'query' } })
  })
})
