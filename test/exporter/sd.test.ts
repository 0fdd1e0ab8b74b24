import { afterEach, expect, it } from 'vitest'
import type { ServerSettings } from '../../src/game/server-settings.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { type MetricsService, startMetricsService } from '../helpers/metrics-service.ts'
import { scriptedFleet } from '../helpers/scripted-fleet.ts'

const servers: readonly ServerSettings[] = [
  { name: 'survival', sources: { status: { address: { host: 'mc.example.org', port: 25565, edition: 'java' } } } },
  { name: 'lobby', group: 'Network', sources: { status: { address: { host: '::1', port: 19132, edition: 'bedrock' } } } },
  { name: 'local', sources: { directory: { path: '/srv/minecraft' } } },
]

let service: MetricsService
afterEach(() => service.close())

it('lists the watched servers for http_sd_config', async () => {
  service = await startMetricsService(scriptedFleet({}, manualClock(), servers))
  const reply = await service.get('/sd')
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await reply.json()).toEqual([
    {
      targets: ['mc.example.org:25565'],
      labels: {
        __meta_tickwarden_name: 'survival',
        __meta_tickwarden_edition: 'java',
        __meta_tickwarden_host: 'mc.example.org',
        __meta_tickwarden_port: '25565',
      },
    },
    {
      targets: ['bedrock://[::1]:19132'],
      labels: {
        __meta_tickwarden_name: 'lobby',
        __meta_tickwarden_group: 'Network',
        __meta_tickwarden_edition: 'bedrock',
        __meta_tickwarden_host: '::1',
        __meta_tickwarden_port: '19132',
      },
    },
    { targets: ['local'], labels: { __meta_tickwarden_name: 'local' } },
  ])
})

it('names a server that shares its address with another', async () => {
  const address = { host: '127.0.0.1', port: 25565, edition: 'java' as const }
  const shared: readonly ServerSettings[] = [
    { name: 'status', sources: { status: { address } } },
    { name: 'console', sources: { status: { address } } },
    { name: 'pocket', sources: { status: { address: { ...address, edition: 'bedrock' } } } },
    // A name takes precedence over an address.
    { name: 'bedrock://127.0.0.1:25565', sources: { status: { address: { ...address, port: 25570 } } } },
    { name: 'alone', sources: { status: { address: { ...address, port: 25571 } } } },
  ]
  const script = Object.fromEntries(
    shared.map(({ name }, index) => [name, { status: { edition: 'java' as const, playersOnline: index } }]),
  )
  service = await startMetricsService(scriptedFleet(script, manualClock(), shared))
  const groups = (await (await service.get('/sd')).json()) as { targets: string[]; labels: Record<string, string> }[]
  expect(groups.map(({ targets }) => targets)).toEqual([
    ['status'],
    ['console'],
    ['pocket'],
    ['127.0.0.1:25570'],
    ['127.0.0.1:25571'],
  ])
  // /probe resolves each target of /sd to the same server.
  for (const [index, { targets, labels }] of groups.entries()) {
    const text = await service.text(`/probe?target=${encodeURIComponent(targets[0]!)}`)
    expect(text, labels.__meta_tickwarden_name).toContain(`\nminecraft_players_online ${index}\n`)
  }
})

it('requires the token of the metrics', async () => {
  service = await startMetricsService(scriptedFleet({}, manualClock(), servers), { env: { METRICS_TOKEN: 'let-me-in' } })
  expect((await service.get('/sd')).status).toBe(401)
  expect((await service.get('/probe?target=survival')).status).toBe(401)
  expect((await service.get('/sd', { authorization: 'Bearer let-me-in' })).status).toBe(200)
})
