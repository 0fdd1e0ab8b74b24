import { afterEach, expect, it } from 'vitest'
import type { ServerSettings } from '../../src/game/server.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { type MetricsService, startMetricsService } from '../helpers/metrics-service.ts'
import { scriptedFleet } from '../helpers/scripted-fleet.ts'

const servers: readonly ServerSettings[] = [
  { name: 'survival', address: { host: 'mc.example.org', port: 25565, edition: 'java' } },
  { name: 'lobby', address: { host: '::1', port: 19132, edition: 'bedrock' } },
  { name: 'local', directory: '/srv/minecraft' },
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
        __meta_tickwarden_edition: 'bedrock',
        __meta_tickwarden_host: '::1',
        __meta_tickwarden_port: '19132',
      },
    },
    { targets: ['local'], labels: { __meta_tickwarden_name: 'local' } },
  ])
})

it('needs the token of the metrics', async () => {
  service = await startMetricsService(scriptedFleet({}, manualClock(), servers), { env: { METRICS_TOKEN: 'let-me-in' } })
  expect((await service.get('/sd')).status).toBe(401)
  expect((await service.get('/probe?target=survival')).status).toBe(401)
  expect((await service.get('/sd', { authorization: 'Bearer let-me-in' })).status).toBe(200)
})
