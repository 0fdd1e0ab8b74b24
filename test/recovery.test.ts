import pino from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { buildApp } from '../src/app.ts'
import { loadConfig } from '../src/config/config.ts'
import { SourceError } from '../src/game/errors.ts'
import { createFleet } from '../src/game/fleet.ts'
import type { SourceContext } from '../src/game/sources/source.ts'
import { silentLog } from '../src/util/log.ts'
import { manualClock } from './helpers/manual-clock.ts'
import { scriptedSource } from './helpers/scripted-source.ts'

const refused = (source: string) => new SourceError('refused', `${source}.test:1: connection refused`)

/** The whole service with one server, whose sources follow a script. */
async function serve() {
  const clock = manualClock()
  const status = scriptedSource('status', clock, { motd: 'Hi' })
  const management = Object.assign(scriptedSource('management', clock, {}), {
    resting: () => [{ command: 'tps', until: clock.now() + 60_000 }],
  })
  const config = loadConfig({ env: {} })
  let context: SourceContext | undefined
  const fleet = createFleet({
    servers: [{ name: 'Server', sources: {} }],
    poll: config.poll,
    clock,
    log: silentLog,
    random: () => 0,
    createSources(_, given) {
      context = given
      return { list: () => [status, management], close() {} }
    },
  })
  const app = await buildApp({ config, fleet, clock, logger: pino({ level: 'silent' }) })
  onTestFinished(async () => {
    fleet.close()
    await app.close()
  })
  fleet.start()
  const get = async (path: string) => app.inject(path)
  const isUp = async () => /^minecraft_up\{[^}]*\} (\d)$/m.exec((await get('/metrics')).body)?.[1]
  return { clock, status, management, push: (reading: Parameters<SourceContext['push']>[0]) => context?.push(reading), get, isUp }
}

it('shows a server up in the metrics and in the API as soon as an event reaches it after an outage', async () => {
  const { clock, status, management, push, get, isUp } = await serve()
  await clock.advance(1_000)
  expect(await isUp()).toBe('1')
  status.answer = refused('status')
  management.answer = refused('management')
  await clock.advance(115_000)
  expect(await isUp()).toBe('0')
  expect((await get('/api/v1/playernames')).statusCode).toBe(503)
  push({
    source: 'management',
    at: clock.now(),
    fields: { playersOnline: 1, players: { players: [{ name: 'Alice' }], complete: true } },
  })
  expect(await isUp()).toBe('1')
  const { statusCode, headers } = await get('/api/v1/playernames')
  expect(statusCode).toBe(200)
  expect(headers['x-snapshot-age']).toBe('0.000')
})

it('lists paused commands in /sources', async () => {
  const { clock, get } = await serve()
  await clock.advance(1_000)
  const { sources } = (await get('/api/v1/sources')).json()
  expect(sources[0]).toMatchObject({ source: 'status', resting: [] })
  expect(sources[2]).toMatchObject({
    source: 'management',
    resting: [{ command: 'tps', until: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) }],
  })
})
