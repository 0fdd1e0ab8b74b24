import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createOwnership } from '../../src/cluster/ownership.ts'
import { ServerMoves } from '../../src/cluster/server-moves.ts'
import { SharedWatcher } from '../../src/cluster/shared-watcher.ts'
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
