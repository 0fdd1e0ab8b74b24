import { afterEach, expect, it } from 'vitest'
import { type DemoServer, demoSettings, startDemoServer } from '../../../src/demo/demo-server.ts'
import { createFleet } from '../../../src/game/fleet.ts'
import { createSources } from '../../../src/game/sources/create-sources.ts'
import { silentLog } from '../../../src/util/log.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { freeDemoPorts } from '../../helpers/run-tool.ts'
import { until } from '../../helpers/until.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const interval = 5_000

/** Watches the demo server with a clock that advances much faster than time. */
function watch(demo: DemoServer) {
  const clock = manualClock()
  let polls = 0
  const fleet = createFleet({
    servers: [demoSettings(demo, 'demo')],
    poll: { interval, timeout: 60_000, staleAfter: 60_000 },
    clock,
    log: silentLog,
    random: () => 0,
    onPollStart: () => polls++,
    createSources,
  })
  closers.push(fleet.close)
  const watcher = fleet.watchers[0]!
  const stateOf = (name: string) => watcher.snapshot().sources.find(({ source }) => source === name)?.state
  fleet.start()
  return {
    stateOf,
    up: () => watcher.snapshot().up,
    polls: () => polls,
    until: (condition: () => boolean, stepMs = 200) => until(() => condition() || clock.advance(stepMs).then(() => false)),
  }
}

it.each(['rcon', 'management'] as const)(
  'a server that restarts has the data of %s back within two polls after its status is back',
  async (source) => {
    const demo = await startDemoServer({ ports: await freeDemoPorts() })
    closers.push(demo.close)
    const server = watch(demo)
    await server.until(() => server.up() === true && server.stateOf(source) === 'ok')
    for (const protocol of ['status', 'rcon', 'management', 'query'] as const) await demo.interrupt(protocol)
    await server.until(() => server.up() === false)
    const outage = server.polls()
    // By then the pause between two attempts is at least 16 s.
    await server.until(() => server.polls() >= outage + 6, 2_000)

    await demo.resume('status')
    await server.until(() => server.up() === true)
    const before = server.polls()
    await demo.resume(source)
    await server.until(() => server.stateOf(source) === 'ok')
    expect(server.polls() - before).toBeLessThanOrEqual(2)
  },
)
