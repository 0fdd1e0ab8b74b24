import { describe, expect, it } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import { buildTestApp, type TestApp } from '../helpers/test-app.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const refused = new SourceError('refused', 'connection refused')
const playing = (...names: readonly string[]): Partial<Fields> => ({
  playersOnline: names.length,
  players: { complete: true, players: names.map((name) => ({ name })) },
})

async function pollFor({ fleet, clock }: TestApp, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 5 * second) {
    await clock.advance(5 * second)
    await fleet.pollAll()
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
const read = async ({ get }: TestApp, path: string): Promise<any> => (await get(path)).json()
const stateOf = async (service: TestApp) => (await read(service, '/api/v1/sources')).state

describe.each([
  ['forth', hour],
  ['back', -hour],
])('a clock that is set an hour %s', (_direction, jump) => {
  it('makes nothing older or newer, and nobody unknown', async () => {
    const service = await buildTestApp({ scripts: { Server: { status: playing('Alice') } } })
    const age = async () => (await service.get('/api/v1/getall')).headers.get('x-snapshot-age')
    await pollFor(service, minute)
    await service.clock.advance(2 * second)
    expect([await age(), await stateOf(service)]).toEqual(['2.000', 'up'])
    service.clock.jump(jump)
    expect([await age(), await stateOf(service)]).toEqual(['2.000', 'up'])
    expect((await service.get('/readyz')).status).toBe(200)
    expect((await service.get('/healthz')).status).toBe(200)
    await service.clock.advance(12 * second)
    expect(await stateOf(service)).toBe('up')
    // Without polls it is unknown, and stays so.
    await service.clock.advance(second)
    expect(await stateOf(service)).toBe('unknown')
    service.clock.jump(-jump)
    expect(await stateOf(service)).toBe('unknown')
  })

  it('is no outage, splits no session and makes no record longer than its time', async () => {
    const service = await buildTestApp({ scripts: { Server: { status: playing('Alice') } } })
    await pollFor(service, 10 * minute)
    service.clock.jump(jump)
    await pollFor(service, 10 * minute)
    service.fleet.scripts.Server = { status: playing() }
    await pollFor(service, minute)
    expect((await read(service, '/api/v1/incidents')).incidents).toEqual([])
    const { days } = await read(service, '/api/v1/uptime')
    for (const { up, known } of days) {
      expect([1, null]).toContain(up)
      expect(known).toBeLessThanOrEqual(1)
    }
    const known = days.reduce((sum: number, day: { known: number }) => sum + day.known, 0)
    expect(known * 24 * hour).toBeGreaterThan(20 * minute)
    expect(known * 24 * hour).toBeLessThan(22 * minute)
    const { sessions } = await read(service, '/api/v1/sessions')
    expect(sessions).toHaveLength(1)
    for (const { from, to } of sessions) expect(to === null || from === null || Date.parse(to) >= Date.parse(from)).toBe(true)
  })

  it('during an outage neither ends nor repeats it', async () => {
    const service = await buildTestApp({ scripts: { Server: { status: playing() } } })
    await pollFor(service, minute)
    service.fleet.scripts.Server = { status: refused }
    await pollFor(service, minute)
    service.clock.jump(jump)
    expect(await stateOf(service)).toBe('down')
    await pollFor(service, 5 * minute)
    service.fleet.scripts.Server = { status: playing() }
    await pollFor(service, minute)
    const { incidents } = await read(service, '/api/v1/incidents')
    expect(incidents).toMatchObject([{ kind: 'down', ongoing: false }])
    const [{ from, to, unknown }] = incidents
    expect(to).toBeGreaterThanOrEqual(from)
    expect(unknown).toBeGreaterThanOrEqual(0)
    expect(to - from - unknown).toBeLessThanOrEqual(hour + 7 * minute)
  })
})
