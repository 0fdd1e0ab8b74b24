import { expect, it, onTestFinished } from 'vitest'
import { createFleet } from '../../../../src/game/fleet.ts'
import { createSources } from '../../../../src/game/sources/create-sources.ts'
import { describeState } from '../../../../src/status-api/current.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { answers, managementServer } from '../../../helpers/management-server.ts'

const notify = 'minecraft:notification/world/'

it('a server that upgrades its world is not up, and its progress is reported', async () => {
  const server = await managementServer()
  onTestFinished(server.close)
  server.results = Object.fromEntries(Object.keys(answers()).map((method) => [method, 'silent']))
  const servers = [{ name: 'a', sources: { management: { url: server.url, secret: server.secret } } }]
  // Known for long, although a busy machine may be late with a poll.
  const poll = { interval: 200, timeout: 150, staleAfter: 60_000 }
  const fleet = createFleet({ servers, poll, clock: systemClock, log: silentLog, createSources })
  onTestFinished(() => fleet.close())
  fleet.start()
  const snapshot = () => fleet.watchers[0]!.snapshot()
  const upgrade = () => snapshot().fields.worldUpgrade?.value
  await expect.poll(() => snapshot().up).toBe(false)

  // The connection is reopened while there is no answer, so an event may be missed.
  const sendUntil = async (event: string, params: unknown, expected: object) => {
    await expect
      .poll(
        () => {
          server.notify(notify + event, params)
          return upgrade()
        },
        { interval: 60 },
      )
      .toEqual(expected)
  }
  await sendUntil('upgrade_started', undefined, { state: 'running', progress: 0 })
  await sendUntil('upgrade_progress', [0.425], { state: 'running', progress: 0.425 })
  expect(snapshot().up).toBe(false)
  expect(describeState(snapshot())).toBe('upgrading the world, 42 %')
  await sendUntil('upgrade_progress', { progress: 0.5 }, { state: 'running', progress: 0.5 })
  server.notify(`${notify}upgrade_progress`, [7])
  await sendUntil('upgrade_failed', undefined, { state: 'failed' })
  expect(describeState(snapshot())).toBe('the upgrade of the world has failed')
  await sendUntil('upgrade_finished', undefined, { state: 'finished' })
  expect(describeState(snapshot())).toBe('down')
  server.results = answers()
  await expect.poll(() => snapshot().up).toBe(true)
  expect(upgrade()).toBeUndefined()
})
