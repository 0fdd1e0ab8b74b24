import { expect, it, onTestFinished, vi } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { openHistory } from '../../src/history/history.ts'
import { silentLog } from '../../src/util/log.ts'
import { createPageHistory } from '../../src/web/page-history.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { until } from '../helpers/until.ts'

const minute = 60_000
const players = (playersOnline: number) => ({ status: { playersOnline } })

/** Two servers whose history has been recorded: 3 and 4 players, then 1 and 4. */
async function record() {
  const clock = manualClock()
  const fleet = fakeFleet({ a: players(3), b: players(4) }, clock)
  const history = await openHistory({ fleet, clock, log: silentLog })
  onTestFinished(() => history.close())
  const run = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 5_000) {
      await clock.advance(5_000)
      await fleet.pollAll()
    }
  }
  const startedAt = clock.wall()
  await run(5 * minute)
  const fellAt = clock.wall()
  fleet.scripts.a = players(1)
  await run(5 * minute)
  /** What a restarted service shows: it has seen no poll yet. */
  const open = () => {
    const past = createPageHistory(fleet, history, clock)
    onTestFinished(() => past.close())
    return past
  }
  return { clock, fleet, history, run, open, startedAt, fellAt }
}

it('shows the recorded peak of today after a restart', async () => {
  const { open, startedAt, fellAt } = await record()
  const past = open()
  expect(past.peakToday()).toBeUndefined()
  await until(() => past.peakToday() !== undefined)
  const { players, at } = past.peakToday()!
  expect(players).toBe(7)
  expect(at).toBeGreaterThanOrEqual(startedAt - minute)
  expect(at).toBeLessThanOrEqual(fellAt)
})

it('shows a higher total since the restart instead', async () => {
  const { clock, fleet, history, open } = await record()
  const peaks = vi.spyOn(history, 'peak')
  const past = open()
  fleet.scripts.b = players(20)
  await fleet.pollAll()
  expect(past.peakToday()).toEqual({ players: 21, at: clock.wall() })
  // The recorded ones are read hour by hour.
  await until(() => peaks.mock.calls.some(([, to]) => to >= clock.wall()))
  expect((await Promise.all(peaks.mock.results.map(({ value }) => value))).at(-1)).toMatchObject({ players: 7 })
  expect(past.peakToday()).toEqual({ players: 21, at: clock.wall() })
})

it('shows no recorded peak of yesterday', async () => {
  const { clock, run, open } = await record()
  const midnight = Math.ceil(clock.wall() / 86_400_000) * 86_400_000
  await clock.advance(midnight - clock.wall() + minute)
  await run(5 * minute)
  const past = open()
  past.peakToday()
  await until(() => past.peakToday() !== undefined)
  expect(past.peakToday()?.players).toBe(5)
  expect(past.peakToday()?.at).toBeGreaterThanOrEqual(midnight)
})

it('has the players of the last 24 hours, read once a minute for all visitors', async () => {
  const { clock, fleet, run, open } = await record()
  const past = open()
  const first = await past.graph()
  expect(first.total).toHaveLength(144)
  expect(first.servers.map(({ server, players }) => [server, players.length])).toEqual([
    ['a', 144],
    ['b', 144],
  ])
  const known = (counts: readonly (number | null)[] = []) => counts.filter((count) => count !== null)
  const [a, b] = first.servers.map(({ players }) => known(players))
  expect(Math.max(...a!)).toBeGreaterThan(1)
  expect(new Set(b)).toEqual(new Set([4]))
  expect(known(first.total)).toEqual(a!.map((count) => Number((count + 4).toFixed(1))))
  expect(await past.graph()).toBe(first)
  // A server that does not answer has no players; the total is that of the others.
  fleet.scripts.a = { status: new SourceError('refused', 'a.test: connection refused') }
  await run(25 * minute)
  const second = await past.graph()
  expect(second).not.toBe(first)
  expect(second.servers[0]?.players.at(-1)).toBeNull()
  expect(second.total.at(-1)).toBe(4)
  expect(second.from + second.step * second.total.length).toBeGreaterThan(clock.wall())
})

it('has the total and the largest servers if they are many', async () => {
  const clock = manualClock()
  const fleet = fakeFleet(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`s${index}`, players(index)])), clock)
  const history = await openHistory({ fleet, clock, log: silentLog })
  onTestFinished(() => history.close())
  for (let passed = 0; passed < 2 * minute; passed += 5_000) {
    await clock.advance(5_000)
    await fleet.pollAll()
  }
  const past = createPageHistory(fleet, history, clock)
  onTestFinished(() => past.close())
  const { total, servers } = await past.graph()
  expect(servers.map(({ server }) => server)).toEqual(Array.from({ length: 10 }, (_, index) => `s${index + 30}`))
  expect(total.findLast((count) => count !== null)).toBe(780)
})
