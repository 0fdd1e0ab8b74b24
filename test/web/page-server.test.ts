import { expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { toPageServer } from '../../src/web/page-server.ts'
import { badgeContent } from '../../src/web/pictures/badge.ts'
import { summarise } from '../../src/web/pictures/summary.ts'
import { viewCard } from '../../src/web/view/card.ts'
import { createFormat } from '../../src/web/view/format.ts'
import { healthOf, tickLight } from '../../src/web/view/health.ts'
import { toHtml } from '../../src/web/view/node.ts'
import { texts as english } from '../../src/web/view/texts/en.ts'
import { serverInState } from '../helpers/page-servers.ts'
import { runningServer as up } from '../helpers/running-server.ts'

const format = createFormat('en', 'UTC')
const context = { texts: english, format, now: 0, root: '', title: 'Servers' }

const health = (snapshot: ServerSnapshot) =>
  healthOf(toPageServer({ name: 'survival', sources: {} }, snapshot, { isPublic: true }), context)

it('shows hung for a server whose main thread does not answer, before any consequence of it', () => {
  const sources = [
    { source: 'rcon', target: 'x', state: 'failed', error: { code: 'timeout', message: 'late' } },
  ] as const satisfies ServerSnapshot['sources']
  expect(health({ ...up, sources, mainThread: { responsive: false, delay: 20 } })).toMatchObject({
    name: 'hung',
    needsAttention: true,
    reason: 'accepts connections, but its main thread does not answer',
  })
  expect(health({ ...up, sources, mainThread: { responsive: true, delay: 0.02 } }).name).toBe('limited')
  expect(health({ ...up, sources }).name).toBe('limited')
})

it('shows hung in pictures too, instead of values of a healthy server', () => {
  const playersOnline = { value: 5, source: 'status' } as const
  const hung: ServerSnapshot = { ...up, fields: { playersOnline }, mainThread: { responsive: false, delay: 20 } }
  const summary = summarise(hung)
  expect(summary.status).toBe('Hung: its main thread does not answer')
  for (const kind of ['status', 'players', 'tps', 'version'] as const) {
    const { value, color } = badgeContent(kind, summary, { since: null, days: [], record: { players: null, at: null } })
    expect([kind, value, color]).toEqual([kind, 'hung', '#c93b3b'])
  }
  expect(summarise({ ...hung, up: false }).shortStatus).toBe('offline')
  const { up: _, ...unknown } = hung
  expect(summarise(unknown).shortStatus).toBe('unknown')
})

it('rounds an uptime down, but no exact percentage', () => {
  const record = { players: null, at: null }
  const badge = (part: number) => {
    const days = [{ date: '2026-01-01', up: part, known: 1, players: { mean: null, max: null, maxAt: null } }]
    return badgeContent('uptime', summarise(up), { since: 0, days, record }).value
  }
  const format = createFormat('en', 'UTC')
  for (let hundredth = 0; hundredth <= 10_000; hundredth++) {
    const shown = `${hundredth / 100}%`
    expect([badge(hundredth / 10_000), format.percent(hundredth / 10_000)]).toEqual([shown, shown])
  }
  expect([badge(0.999999), format.percent(0.56999)]).toEqual(['99.99%', '56.99%'])
})

it('does not show hung for a server that is down or unknown', () => {
  expect(health({ ...up, up: false, mainThread: { responsive: false, delay: 20 } }).name).toBe('down')
  const { up: _, ...unknown } = up
  expect(health({ ...unknown, mainThread: { responsive: false, delay: 20 } }).name).toBe('unknown')
})

const upgrading = (state: 'running' | 'failed', progress?: number): ServerSnapshot => ({
  ...up,
  up: false,
  fields: {
    worldUpgrade: { value: { state, ...(progress !== undefined && { progress }) }, source: 'management' },
  },
})

it('shows the end of a maintenance with its date if that is another day', () => {
  const reason = (until: number) => healthOf(serverInState({ maintenance: { reason: 'Moving', until } }), context).reason
  const [soon, later] = [context.now + 3_600_000, context.now + 3 * 86_400_000]
  expect(reason(soon)).toBe(`Moving until ${format.time(soon)}`)
  expect(reason(later)).toBe(`Moving until ${format.dateTime(later)}`)
})

it('shows the progress of a world upgrade while the server is not up', () => {
  expect(health(upgrading('running', 0.4271))).toMatchObject({
    name: 'upgrading',
    needsAttention: false,
    reason: 'starting: the world is being upgraded, 42.71% done; players cannot join until then',
  })
  expect(health(upgrading('running')).reason).toBe('starting: the world is being upgraded; players cannot join until then')
  expect(health({ ...upgrading('running', 1), up: true }).name).toBe('up')
  const maintenance = { reason: 'upgrade', until: Date.now() }
  expect(summarise(upgrading('running'), maintenance).shortStatus).toBe('upgrading')
  expect(summarise(up, maintenance).status).toBe('Maintenance: upgrade')
})

it('shows down with the reason for a failed world upgrade', () => {
  expect(health(upgrading('failed'))).toMatchObject({
    name: 'down',
    needsAttention: true,
    reason: 'the upgrade of the world has failed',
  })
})

it('shows asleep for a server for which a proxy answers', () => {
  const sources = [
    { source: 'status', target: 'x', state: 'failed', error: { code: 'asleep', message: 'a proxy answers' } },
  ] as const satisfies ServerSnapshot['sources']
  const asleep: ServerSnapshot = { ...up, up: false, sources }
  expect(health(asleep)).toMatchObject({
    name: 'asleep',
    needsAttention: false,
    reason: 'stopped; a proxy starts it when a player joins',
  })
  const { status, shortStatus } = summarise(asleep)
  expect({ status, shortStatus }).toEqual({ status: 'Asleep', shortStatus: 'asleep' })
})

it('has only the configured group', () => {
  const groupOf = (env: Record<string, string>) => {
    const [settings] = loadConfig({ env: { MC_SERVER: 'mc.example.org', ...env }, watches: false }).servers
    return settings && toPageServer(settings, up, { isPublic: false }).state.group
  }
  expect(groupOf({ MC_GROUP: 'Network' })).toBe('Network')
  expect(groupOf({})).toBeNull()
})

it('marks a sprinting server, which has no target', () => {
  const sprinting: ServerSnapshot = {
    ...up,
    fields: { tickSprinting: { value: true, source: 'rcon' }, tickRate: { value: 12, source: 'rcon' } },
  }
  expect(health(sprinting)).toMatchObject({ name: 'sprinting', needsAttention: false })
  const server = toPageServer({ name: 'survival', sources: {} }, sprinting, { isPublic: true })
  expect(toHtml(viewCard(server, undefined, context))).toContain('<span class="badge sprinting">')
  expect(tickLight(server, context).reason).not.toContain('of 20')
})

it.each([
  [3_000, 0.0412, 'Keeps up: 0.041 of 0.33 ms per tick used'],
  [10_000, 0.2, '0.2 ms per tick; more than 0.1 ms is lag'],
  [200, 2, 'Keeps up: 2.0 of 5.0 ms per tick used'],
  [20, 2, 'Keeps up: 2.0 of 50 ms per tick used'],
])('shows the time that is available for a tick at %s ticks per second', (target, mean, expected) => {
  const fields = {
    tickRateTarget: { value: target, source: 'rcon' },
    tickDurationMean: { value: mean / 1000, source: 'rcon' },
  } as const
  const server = toPageServer({ name: 'survival', sources: {} }, { ...up, fields }, { isPublic: true })
  expect(tickLight(server, context).reason).toBe(expected)
})
