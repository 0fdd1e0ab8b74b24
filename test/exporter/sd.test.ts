import { afterEach, expect, it } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import type { ServerSettings } from '../../src/game/server.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { status } from '../helpers/metrics-fleet.ts'
import { type MetricsService, serverPart, startMetricsService } from '../helpers/metrics-service.ts'
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

it('serves the names of mc-monitor too if told to', async () => {
  const script = {
    survival: { status: { ...status, version: '1.21.11' } },
    lobby: { status: new SourceError('refused', 'lobby: refused') },
  }
  const fleet = scriptedFleet(script, manualClock(), servers)
  service = await startMetricsService(fleet, { env: { COMPAT: 'mc-monitor' } })
  await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
  const text = await service.text()
  const labels = 'server_host="mc.example.org",server_port="25565",server_edition="java",server_version="1.21.11"'
  expect(text).toContain(`\nminecraft_status_healthy{${labels}} 1\n`)
  expect(text).toContain(`\nminecraft_status_response_time_seconds{${labels}} 0\n`)
  expect(text).toContain(`\nminecraft_status_players_online_count{${labels}} 2\n`)
  expect(text).toContain(`\nminecraft_status_players_max_count{${labels}} 20\n`)
  expect(text).toContain(
    '\nminecraft_status_healthy{server_host="::1",server_port="19132",server_edition="bedrock",server_version=""} 0\n',
  )
  expect(text).toContain('\nminecraft_up{server="survival"} 1\n')
  expect(serverPart(text)).not.toMatch(/minecraft_status_(healthy|\w+_count)\{server=/)
})

it('does not serve them otherwise', async () => {
  const fleet = scriptedFleet({ survival: { status } }, manualClock())
  service = await startMetricsService(fleet)
  await fleet.watchers[0]!.poll()
  expect(await service.text()).not.toContain('minecraft_status_healthy')
})
