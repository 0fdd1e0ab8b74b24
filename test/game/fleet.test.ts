import { describe, expect, it } from 'vitest'
import { createFleet, type FleetChange } from '../../src/game/fleet.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { silentLog } from '../../src/util/log.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { patientClock } from '../helpers/patient-clock.ts'
import { listenRconPeer, packet } from '../helpers/rcon-peer.ts'
import { refused, type ScriptedSource, scriptedSource } from '../helpers/scripted-source.ts'

const poll = { interval: 5000, timeout: 3000, staleAfter: 15_000 }

function fleetOf(names: readonly string[]) {
  const clock = manualClock(0)
  const sources = new Map<string, ScriptedSource>()
  const fleet = createFleet({
    servers: names.map((name) => ({ name, sources: {} })),
    poll,
    clock,
    log: silentLog,
    random: () => 0,
    createSources({ name }) {
      const source = scriptedSource('status', clock, { motd: name })
      sources.set(name, source)
      return { list: () => [source], close: () => source.close() }
    },
  })
  return { clock, fleet, sources }
}

it('polls servers independently: one that is silent or down does not delay the others', async () => {
  const { clock, fleet, sources } = fleetOf(['a', 'b', 'c'])
  sources.get('a')!.answer = 'silent'
  sources.get('b')!.answer = refused
  fleet.start()
  await clock.advance(11_000)
  expect(sources.get('c')!.polledAt).toEqual([0, 5_000, 10_000])
  expect(fleet.watchers.map((watcher) => watcher.snapshot().up)).toEqual([false, false, true])
  fleet.close()
})

/** How many of the times are in each tenth of the span, milliseconds. */
function tenths(times: readonly (number | undefined)[], span: number): readonly number[] {
  const counts = Array.from({ length: 10 }, () => 0)
  for (const time of times) if (time !== undefined) counts[Math.min(9, Math.floor((10 * time) / span))]!++
  return counts
}

it('spreads the first polls of many servers evenly, with time for the last one to end within the interval', async () => {
  const names = Array.from({ length: 1500 }, (_, index) => `s${index}`)
  const { clock, fleet, sources } = fleetOf(names)
  fleet.start()
  await clock.advance(4999)
  const times = [...sources.values()].map(({ polledAt }) => polledAt[0])
  expect(Math.max(...times.map(Number))).toBeLessThan(4_800)
  const counts = tenths(times, 4_750)
  expect(Math.min(...counts)).toBeGreaterThan(110)
  expect(Math.max(...counts)).toBeLessThan(190)
  fleet.close()
  expect(clock.pending).toBe(0)
})

it('polls a server at the same offset in the interval after a restart, whatever the other servers are', async () => {
  const firstPolls = async (names: readonly string[]) => {
    const { clock, fleet, sources } = fleetOf(names)
    fleet.start()
    await clock.advance(5000)
    fleet.close()
    return new Map([...sources].map(([name, { polledAt }]) => [name, polledAt[0]]))
  }
  const names = Array.from({ length: 1200 }, (_, index) => `s${index}`)
  const before = await firstPolls(names)
  const after = await firstPolls(names.filter((name) => name !== 's7').reverse())
  for (const [name, time] of after) expect(time).toBe(before.get(name))
})

it('polls a few servers immediately', async () => {
  const { clock, fleet, sources } = fleetOf(['a', 'b', 'c', 'd'])
  fleet.start()
  await clock.advance(20)
  expect([...sources.values()].map(({ polledAt }) => polledAt.length)).toEqual([1, 1, 1, 1])
  fleet.close()
})

it('reports how late polls started', async () => {
  const clock = manualClock(0)
  const delays: number[] = []
  const fleet = createFleet({
    ...{ servers: [{ name: 'a', sources: {} }], poll, clock, log: silentLog, random: () => 0 },
    onPollStart: (seconds) => delays.push(seconds),
    createSources: () => ({ list: () => [], close() {} }),
  })
  fleet.start()
  await clock.advance(5_010)
  expect(delays).toHaveLength(2)
  for (const delay of delays) expect(delay).toBeLessThanOrEqual(0.005)
  fleet.close()
})

it('notifies subscribers of every server until they unsubscribe', async () => {
  const { fleet } = fleetOf(['a', 'b'])
  const seen: string[] = []
  const end = fleet.subscribe(({ server }) => seen.push(server))
  await fleet.get('b')!.poll()
  await fleet.get('a')!.poll()
  end()
  await fleet.get('a')!.poll()
  expect(seen).toEqual(['b', 'a'])
  expect(fleet.get('nobody')).toBeUndefined()
  fleet.close()
})

describe('update', () => {
  const server = (name: string, group?: string) => ({ name, sources: {}, ...(group !== undefined && { group }) })

  it('keeps the watchers of unchanged servers, in the order of the new list', async () => {
    const { clock, fleet, sources } = fleetOf(['a', 'b', 'c'])
    const [a, b, c] = fleet.watchers
    const unpolled = fleet.watchers
    fleet.start()
    await clock.advance(100)
    const changes: FleetChange[] = []
    const end = fleet.onChange((change) => changes.push(change))
    const replaced = sources.get('b')!
    const change = fleet.update([server('d'), server('c'), server('b', 'Lobbies'), server('a')])
    expect(change).toEqual({ added: ['d'], changed: ['b'], removed: [] })
    expect(fleet.servers.map(({ name }) => name)).toEqual(['d', 'c', 'b', 'a'])
    expect(fleet.watchers.map((watcher) => [a, b, c].indexOf(watcher))).toEqual([-1, 2, -1, 0])
    expect(unpolled).toEqual([a, b, c])
    expect([fleet.get('a'), fleet.get('c')]).toEqual([a, c])
    expect(fleet.settingsOf('b')).toEqual(server('b', 'Lobbies'))
    expect(b!.snapshot().up).toBe(true)
    expect(fleet.get('b')!.snapshot().up).toBeUndefined()
    await clock.advance(100)
    expect(fleet.watchers.map((watcher) => watcher.snapshot().up)).toEqual([true, true, true, true])
    expect(fleet.update([server('a')])).toEqual({ added: [], changed: [], removed: ['d', 'c', 'b'] })
    expect(changes.length).toBe(2)
    end()
    fleet.update([])
    expect(changes.length).toBe(2)
    expect([fleet.get('a'), fleet.settingsOf('a'), clock.pending]).toEqual([undefined, undefined, 0])
    expect(replaced.closed).toBe(true)
  })

  it('reports whether new settings are about another server', () => {
    const at = (port: number, group: string, path = '/a') => ({
      ...{ name: 'a', group },
      sources: { status: { address: { host: 'a.test', port, edition: 'java' as const } }, directory: { path } },
    })
    const { fleet } = fleetOf([])
    fleet.update([at(1, 'one')])
    expect(fleet.update([at(1, 'two')])).toEqual({ added: [], changed: ['a'], removed: [] })
    expect(fleet.update([at(2, 'two')])).toEqual({ added: [], changed: ['a'], replaced: ['a'], removed: [] })
    expect(fleet.update([at(2, 'two', '/b')])).toEqual({ added: [], changed: ['a'], replaced: ['a'], removed: [] })
    fleet.close()
  })

  it('changes nothing if the list is equal, and notifies listeners if only the order differs', () => {
    const { fleet } = fleetOf(['a', 'b'])
    const { servers, watchers } = fleet
    const changes: FleetChange[] = []
    fleet.onChange((change) => changes.push(change))
    fleet.update([server('a'), server('b')])
    expect(fleet.servers).toBe(servers)
    expect(fleet.watchers).toBe(watchers)
    fleet.update([server('b'), server('a')])
    expect(fleet.watchers).toEqual(watchers.toReversed())
    expect(changes).toEqual([{ added: [], changed: [], removed: [] }])
    fleet.close()
  })

  it('rejects two servers with the same name', () => {
    const { fleet } = fleetOf(['a'])
    const { watchers } = fleet
    expect(() => fleet.update([server('b'), server('b')])).toThrow('two servers have the name "b"')
    expect(fleet.watchers).toBe(watchers)
    fleet.close()
  })

  it('notifies subscribers of servers that are added later, even if another listener throws', async () => {
    const { fleet } = fleetOf(['a'])
    const seen: string[] = []
    fleet.subscribe(() => {
      throw new Error('a listener that fails')
    })
    fleet.subscribe(({ server }) => seen.push(server))
    const [a] = fleet.watchers
    fleet.update([server('b')])
    await Promise.all([a!.poll(), fleet.get('b')!.poll()])
    expect(seen).toEqual(['b'])
    fleet.close()
  })

  it('spreads the first polls of added servers, and polls a single one immediately', async () => {
    const { clock, fleet, sources } = fleetOf([])
    fleet.start()
    const names = Array.from({ length: 1000 }, (_, index) => `s${index}`)
    fleet.update(names.map((name) => server(name)))
    await clock.advance(4999)
    expect(
      Math.min(
        ...tenths(
          [...sources.values()].map(({ polledAt }) => polledAt[0]),
          4_750,
        ),
      ),
    ).toBeGreaterThan(60)
    fleet.update([...names, 'last'].map((name) => server(name)))
    await clock.advance(10)
    expect(sources.get('last')!.polledAt).toHaveLength(1)
    fleet.close()
    expect(clock.pending).toBe(0)
    expect(fleet.update([server('late')])).toEqual({ added: [], changed: [], removed: [] })
  })
})

it('creates a temporary watcher with its own timeout for a probe', async () => {
  const { clock, fleet, sources } = fleetOf([])
  const watcher = fleet.probe({ name: 'probed', sources: {} }, 200)
  sources.get('probed')!.answer = 'silent'
  const polled = watcher.poll()
  await clock.advance(300)
  expect((await polled).sources[0]?.error?.message).toContain('within 200 ms')
  watcher.close()
  expect(clock.pending).toBe(0)
})

it('makes at most one login for six probes with a wrong RCON password', async () => {
  const peer = await listenRconPeer(
    () => {},
    ({ socket }) => void socket.write(packet(-1, 2, '')),
  )
  const server = { name: 'Server', sources: { rcon: { address: peer.address, password: 'wrong' } } }
  const fleet = createFleet({ servers: [server], poll, clock: patientClock, log: silentLog, createSources })
  const probe = async () => {
    const watcher = fleet.probe(server, 3_000)
    const { sources } = await watcher.poll()
    watcher.close()
    return sources[0]?.error?.code
  }
  expect(await Promise.all([probe(), probe(), probe()])).toEqual(['auth', 'auth', 'auth'])
  expect(await Promise.all([probe(), probe(), probe()])).toEqual(['auth', 'auth', 'auth'])
  expect((await fleet.get('Server')?.poll())?.sources[0]?.error?.code).toBe('auth')
  expect(peer.logins).toBe(1)
  fleet.close()
  await peer.close()
})
