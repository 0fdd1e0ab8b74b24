import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { loadConfig } from '../../src/config.ts'
import { startDemoServer } from '../../src/game/demo/server.ts'
import { SourceError } from '../../src/game/errors.ts'
import { createFleet, type Fleet } from '../../src/game/fleet.ts'
import type { ServerSettings } from '../../src/game/server.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { silentLog } from '../../src/log.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { rcon, status } from '../helpers/metrics-fleet.ts'
import { parseSamples, startMetricsService } from '../helpers/metrics-service.ts'
import { type Script, scriptedFleet } from '../helpers/scripted-fleet.ts'

const refused = new SourceError('refused', 'refused')
const java = (name: string, host: string, port = 25565): ServerSettings => ({
  name,
  sources: { status: { address: { host, port, edition: 'java' } } },
})

/** The samples of mc-monitor after one poll of each server. */
async function compat(fleet: Fleet, env: Record<string, string> = { COMPAT: 'mc-monitor' }) {
  const service = await startMetricsService(fleet, { env })
  onTestFinished(service.close)
  await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
  const samples = parseSamples(await service.text())
  return samples
    .filter(({ name }) => /^minecraft_status_(healthy|response_time_seconds|players_\w+_count)$/.test(name))
    .map(({ name, labels, value }) => `${name}${labels} ${value}`)
}
const scripted = (script: Script, servers: readonly ServerSettings[]) => scriptedFleet(script, manualClock(), servers)

it('serves the names of mc-monitor if told to, and only then', async () => {
  const servers: readonly ServerSettings[] = [
    java('survival', 'mc.example.org'),
    { name: 'lobby', sources: { status: { address: { host: '::1', port: 19132, edition: 'bedrock' } } } },
  ]
  const script = { survival: { status }, lobby: { status: refused } }
  const labels = 'server_host="mc.example.org",server_port="25565",server_edition="java",server_version="1.21.11"'
  expect(await compat(scripted(script, servers))).toEqual([
    `minecraft_status_healthy{${labels}} 1`,
    'minecraft_status_healthy{server_host="::1",server_port="19132",server_edition="bedrock",server_version=""} 0',
    `minecraft_status_response_time_seconds{${labels}} 0`,
    `minecraft_status_players_online_count{${labels}} 2`,
    `minecraft_status_players_max_count{${labels}} 20`,
  ])
  expect(await compat(scripted(script, servers), {})).toEqual([])
})

it('tells of the status alone: a server whose RCON answers is not healthy', async () => {
  const fleet = scripted({ survival: { status: refused, rcon: { ...rcon, playersOnline: 2, version: '1.21.11' } } }, [
    java('survival', 'mc.example.org'),
  ])
  expect(await compat(fleet)).toEqual([
    'minecraft_status_healthy{server_host="mc.example.org",server_port="25565",server_edition="java",server_version=""} 0',
  ])
  expect(fleet.get('survival')?.snapshot().up).toBe(true)
})

it('says nothing of a server whose status is not asked', async () => {
  expect(await compat(scripted({ console: { rcon } }, [{ name: 'console', sources: {} }]))).toEqual([])
})

it('has of servers at one address only the first, also while it fails', async () => {
  const servers = [java('a', 'mc.example.org'), java('b', 'MC.example.org'), java('c', 'mc.example.org', 25566)]
  for (const first of [status, refused]) {
    const samples = await compat(scripted({ a: { status: first }, b: { status }, c: { status } }, servers))
    const healthy = samples.filter((sample) => sample.startsWith('minecraft_status_healthy'))
    expect(healthy).toEqual([
      expect.stringMatching(first === status ? /port="25565",.*version="1.21.11"} 1$/ : /port="25565",.*version=""} 0$/),
      expect.stringMatching(/port="25566",.*version="1.21.11"} 1$/),
    ])
  }
})

it('finds the address of a server that is known by its directory', async () => {
  const demo = await startDemoServer()
  const directory = mkdtempSync(join(tmpdir(), 'tickwarden-server-'))
  onTestFinished(async () => {
    await demo.close()
    rmSync(directory, { recursive: true })
  })
  const { port } = demo.address
  writeFileSync(join(directory, 'server.properties'), `server-port=${port}\nserver-ip=127.0.0.1\n`)
  const { poll } = loadConfig({ env: {} })
  const servers = [{ name: 'local', sources: { directory: { path: directory } } }]
  const fleet = createFleet({ servers, poll, clock: systemClock, log: silentLog, createSources })
  expect(await compat(fleet)).toContainEqual(
    expect.stringMatching(
      new RegExp(`^minecraft_status_healthy\\{server_host="127.0.0.1",server_port="${port}",server_edition="java",.*\\} 1$`),
    ),
  )
})
