import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createOwnership } from '../../src/cluster/ownership.ts'
import { ServerMoves } from '../../src/cluster/server-moves.ts'
import { SharedWatcher } from '../../src/cluster/shared-watcher.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createFleet } from '../../src/game/fleet.ts'
import { silentLog } from '../../src/util/log.ts'
import { fakeFleet, testPoll } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { refused, scriptedSource } from '../helpers/scripted-source.ts'

const heartbeatMs = 1_000
const sweepMs = 1_000

/** The moves of the replica `a`, with one server that takes so long to answer, and of which it has received one snapshot. */
async function startMoves(pollMs: number, answer: { playersOnline: number } | Error) {
  const clock = manualClock()
  const source = scriptedSource('status', clock, async () => {
    await new Promise<void>((resolve) => clock.after(pollMs, resolve))
    if (answer instanceof Error) throw answer
    return answer
  })
  const createWatcher = () =>
    createFleet({
      servers: [{ name: 'survival', sources: {} }],
      ...{ poll: testPoll, clock, log: silentLog, random: () => 0 },
      createSources: () => ({ list: () => [source], close() {} }),
    }).watchers[0]!
  let number = 0
  const watcher = new SharedWatcher({ name: 'survival', sources: {} }, createWatcher, {
    ...{ settings: testPoll, clock },
    onPolled: (_, snapshot) => watcher.apply(snapshot, { from: 'here', member: 'a', epoch: 1, number: ++number }),
    onPublish() {},
    onClose() {},
  })
  const moves = new ServerMoves({
    ...{ id: 'a', watchers: new Map([[watcher.key, watcher]]), poll: testPoll, heartbeatMs, sweepMs, clock, log: silentLog },
    mayFallBack: () => true,
    signal: new AbortController().signal,
  })
  const other = fakeFleet({ survival: { status: { playersOnline: 3 } } }, clock)
  await other.pollAll()
  watcher.apply(other.watchers[0]!.snapshot(), { from: 'stream', member: 'b', epoch: 1, number: 0 })
  /** Members that own the server if they are there. */
  const others = Array.from({ length: 20 }, (_, n) => `b${n}`).filter((id) => createOwnership(['a', id])(watcher.key) === id)
  async function advance(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += sweepMs) {
      await clock.advance(sweepMs)
      await moves.sweep()
      await nextTurn()
    }
  }
  return { moves, watcher, others: others as [string, string], advance }
}

const up = { playersOnline: 4 }

it.each([
  ['the list of servers changes', up, 0],
  ['another replica becomes its owner', up, 2],
  ['another replica becomes its owner, and it is down', refused, 2],
  ['this replica becomes its owner, or no longer is', up, 1],
] as const)('polls a server that nobody reports, also if %s before each poll has ended', async (_, answer, owners) => {
  const { moves, watcher, others, advance } = await startMoves(testPoll.timeout - 100, answer)
  const members = [['a', others[0]], owners === 1 ? ['a'] : ['a', others[1]]]
  moves.follow(members[0]!)
  for (let change = 0; change < 60; change++) {
    if (owners === 0) void moves.move()
    else moves.follow(members[change % 2]!)
    await advance(2_000)
    expect(watcher.snapshot().up, `after change ${change}`).toBeDefined()
  }
  expect(watcher.snapshot().up).toBe(answer === up)
})

it('spreads the first polls of the servers that it takes over, over less time if a member has left', async () => {
  const env = { STATE_URL: 'redis://redis.test', STATE_HEARTBEAT: '2s', POLL_INTERVAL: '1s' }
  const { cluster, poll } = loadConfig({ env, watches: false })
  /** The moves of a replica, and the milliseconds after which it starts to poll each server that it takes over. */
  const start = (id: string, staleAfter = poll.staleAfter) => {
    const clock = manualClock()
    const settings = { ...poll, staleAfter }
    const watchers = new Map<string, SharedWatcher>()
    const delays = new Map<string, number>()
    const add = (name: string) => {
      const server = { name, sources: {} }
      const createWatcher = () => {
        const fleet = createFleet({
          servers: [server],
          ...{ poll: settings, clock, log: silentLog },
          createSources: () => ({ list: () => [], close() {} }),
        })
        return Object.assign(fleet.watchers[0]!, { start: (delayMs = 0) => void delays.set(name, delayMs) })
      }
      const watcher = new SharedWatcher(server, createWatcher, { settings, clock, onPolled() {}, onPublish() {}, onClose() {} })
      watchers.set(watcher.key, watcher)
    }
    for (let index = 0; index < 400; index++) add(`s${index}`)
    const moves = new ServerMoves({
      ...{ id, watchers, poll: settings, heartbeatMs: cluster.stateHeartbeat, sweepMs, clock, log: silentLog },
      mayFallBack: () => true,
      signal: new AbortController().signal,
    })
    return {
      ...{ add, delays, move: moves.move, max: () => Math.max(...delays.values()) },
      async follow(...members: readonly string[]) {
        moves.follow(members)
        await moves.move()
      },
      owned: () => [...watchers.values()].filter(({ isOwned }) => isOwned).length,
    }
  }
  const first = start('a')
  await first.follow('a')
  expect(first.delays.size).toBe(400)
  expect(first.max()).toBeLessThan(950)
  expect(first.max()).toBeGreaterThan(850)

  const second = start('b')
  await Promise.all([first, second].map(({ follow }) => follow('a', 'b')))
  expect(second.delays.size).toBeGreaterThan(100)
  expect(first.owned() + second.owned()).toBe(400)
  expect(second.max()).toBeLessThan(950)
  expect(second.max()).toBeGreaterThan(500)

  second.delays.clear()
  await second.follow('b')
  expect(second.owned()).toBe(400)
  expect(second.delays.size).toBeGreaterThan(100)
  expect(second.max()).toBeLessThan(400)
  expect(second.max()).toBeGreaterThan(300)

  // Not because a member has left.
  second.delays.clear()
  for (let index = 400; index < 800; index++) second.add(`s${index}`)
  await second.move()
  expect(second.owned()).toBe(800)
  expect(second.delays.size).toBe(400)
  expect(second.max()).toBeGreaterThan(850)

  second.delays.clear()
  second.add('one more')
  await second.move()
  expect(second.owned()).toBe(801)
  expect([...second.delays.keys()]).toEqual(['one more'])
  expect(second.max()).toBeLessThan(5)

  // Values of the previous owner, which may be an interval old, must not become stale until then.
  const third = start('c', poll.interval + 400)
  await third.follow('b', 'c')
  expect(third.delays.size).toBeGreaterThan(100)
  expect(third.max()).toBeLessThan(200)
  expect(third.max()).toBeGreaterThan(100)
})
