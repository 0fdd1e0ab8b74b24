import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { startDemoServer } from '../../src/demo/demo-server.ts'
import { SourceError } from '../../src/game/errors.ts'
import { createFleet, type Fleet } from '../../src/game/fleet.ts'
import type { ServerSettings } from '../../src/game/server-settings.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { silentLog } from '../../src/util/log.ts'
import { hostileServer } from '../helpers/hostile-servers.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { rcon, status } from '../helpers/metrics-fleet.ts'
import { parseSamples, startMetricsService } from '../helpers/metrics-service.ts'
import { patientClock } from '../helpers/patient-clock.ts'
import { type Script, scriptedFleet } from '../helpers/scripted-fleet.ts'
import { encodeStatus } from '../helpers/status-packets.ts'

/** What mc-monitor reads of it: the version as the server sends it. */
const rawStatus = { version: 'Paper 1.21.11', playersOnline: 2, playersMax: 20 }
const answering = { ...status, rawStatus }
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

it('serves the names of mc-monitor only if configured', async () => {
  const servers: readonly ServerSettings[] = [
    java('survival', 'mc.example.org'),
    { name: 'lobby', sources: { status: { address: { host: '::1', port: 19132, edition: 'bedrock' } } } },
  ]
  const script = { survival: { status: answering }, lobby: { status: refused } }
  const labels = 'server_host="mc.example.org",server_port="25565",server_edition="java",server_version="Paper 1.21.11"'
  expect(await compat(scripted(script, servers))).toEqual([
    `minecraft_status_healthy{${labels}} 1`,
    'minecraft_status_healthy{server_host="::1",server_port="19132",server_edition="bedrock",server_version=""} 0',
    `minecraft_status_response_time_seconds{${labels}} 0`,
    `minecraft_status_players_online_count{${labels}} 2`,
    `minecraft_status_players_max_count{${labels}} 20`,
  ])
  expect(await compat(scripted(script, servers), {})).toEqual([])
})

it('depends on the status alone: a server is not healthy if only its RCON answers', async () => {
  const fleet = scripted({ survival: { status: refused, rcon: { ...rcon, playersOnline: 2, version: '1.21.11' } } }, [
    java('survival', 'mc.example.org'),
  ])
  expect(await compat(fleet)).toEqual([
    'minecraft_status_healthy{server_host="mc.example.org",server_port="25565",server_edition="java",server_version=""} 0',
  ])
  expect(fleet.get('survival')?.snapshot().up).toBe(true)
})

it('has no samples of a server without the status source', async () => {
  expect(await compat(scripted({ console: { rcon } }, [{ name: 'console', sources: {} }]))).toEqual([])
})

it('has only the first of several servers at one address, even while it fails', async () => {
  const servers = [java('a', 'mc.example.org'), java('b', 'MC.example.org'), java('c', 'mc.example.org', 25566)]
  for (const first of [answering, refused]) {
    const samples = await compat(scripted({ a: { status: first }, b: { status: answering }, c: { status: answering } }, servers))
    const healthy = samples.filter((sample) => sample.startsWith('minecraft_status_healthy'))
    expect(healthy).toEqual([
      expect.stringMatching(first === answering ? /port="25565",.*version="Paper 1.21.11"} 1$/ : /port="25565",.*version=""} 0$/),
      expect.stringMatching(/port="25566",.*version="Paper 1.21.11"} 1$/),
    ])
  }
})

it('finds the address of a server that is configured by its directory', async () => {
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
  const fleet = createFleet({ servers, poll, clock: patientClock, log: silentLog, createSources })
  expect(await compat(fleet)).toContainEqual(
    expect.stringMatching(
      new RegExp(`^minecraft_status_healthy\\{server_host="127.0.0.1",server_port="${port}",server_edition="java",.*\\} 1$`),
    ),
  )
})

/** Version names of servers, proxies and plugins as in the status reply. */
const versionNames = [
  '1.8.9',
  '1.21.11',
  '26.1',
  '26.1-snapshot-2',
  '25w14a',
  '1.21.11 Pre-Release 3',
  'Paper 1.21.11',
  'Purpur 1.21.11',
  'Spigot 1.8.8',
  'CraftBukkit 1.7.10-R0.1-SNAPSHOT',
  'Folia 26.1',
  'Leaves 1.21.8',
  'Cuberite 1.12.2',
  'Pumpkin 26.1',
  'Minestom 26.2',
  'Velocity 1.7.2-26.1',
  'BungeeCord 1.8.x-26.1',
  'Waterfall 1.8.x, 1.9.x, 1.10.x, 1.11.x, 1.12.x, 1.21.x',
  'thermos,cauldron,craftbukkit,mcpc,kcauldron,fml,forge 1.7.10',
  '§4● Maintenance',
  'Requires MC 1.8 / 1.21',
  'Join us! "now" \\o/',
  ' 1.20.4 ',
  '',
] as const

/** A server whose status reply is this JSON. */
async function answeringWith(reply: object) {
  const server = await hostileServer((socket) => {
    socket.once('data', () => socket.end(encodeStatus(JSON.stringify(reply))))
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return java(`port ${server.port}`, '127.0.0.1', server.port)
}

async function samplesOf(servers: readonly ServerSettings[]) {
  const { poll } = loadConfig({ env: {} })
  const fleet = createFleet({ servers, poll, clock: patientClock, log: silentLog, createSources })
  onTestFinished(() => fleet.close())
  return compat(fleet)
}

it(`has the version as the server sends it, for ${versionNames.length} names`, async () => {
  const players = { online: 1, max: 20 }
  const servers = await Promise.all(versionNames.map((name) => answeringWith({ version: { name, protocol: 774 }, players })))
  const healthy = (await samplesOf(servers)).filter((sample) => sample.startsWith('minecraft_status_healthy'))
  expect(healthy).toHaveLength(24)
  const versions = healthy.map((sample) => JSON.parse(/server_version=("(?:[^"\\]|\\.)*")/.exec(sample)?.[1] ?? '""'))
  expect(versions).toEqual(versionNames)
  expect(healthy.every((sample) => sample.endsWith(' 1'))).toBe(true)
})

it.each([
  ['max is 0', { players: { online: 0, max: 0 } }],
  ['max is missing', { players: { online: 3 } }],
  ['players are missing', {}],
])('a Java server is not healthy and has no counts if %s', async (_, reply) => {
  const server = await answeringWith({ version: { name: '1.21.11', protocol: 774 }, ...reply })
  expect((await samplesOf([server])).map((sample) => sample.replace(/\{.*server_version/, '{server_version'))).toEqual([
    'minecraft_status_healthy{server_version="1.21.11"} 0',
    expect.stringMatching(/^minecraft_status_response_time_seconds\{server_version="1.21.11"\} 0\.\d+$/),
  ])
})

it.each([
  ['a count is missing', { max: 20 }, ['0', '20']],
  ['the maximum is negative', { online: 1, max: -1 }, ['1', '-1']],
])('a Java server has the same counts as in mc-monitor if %s', async (_, players, counts) => {
  const server = await answeringWith({ version: { name: '1.21.11', protocol: 774 }, players })
  const given = (await samplesOf([server]))
    .filter((sample) => sample.includes('_count'))
    .map((sample) => sample.split(' ').at(-1))
  expect(given).toEqual(counts)
})

it('a Bedrock server without counts is healthy, with -1 for each', async () => {
  const bedrock: ServerSettings = {
    name: 'b',
    sources: { status: { address: { host: '::1', port: 19132, edition: 'bedrock' } } },
  }
  const samples = await compat(scripted({ b: { status: { edition: 'bedrock', rawStatus: { version: '' } } } }, [bedrock]))
  expect(samples.map((sample) => sample.split(' ').at(-1))).toEqual(['1', '0', '-1', '-1'])
})

it('the response time includes the pong', async () => {
  const delay = 60
  const server = await hostileServer((socket) => {
    socket.once('data', () => {
      socket.write(encodeStatus('{"version":{"name":"1.21.11","protocol":774},"players":{"online":1,"max":20}}'))
      socket.once('data', (ping: Buffer) => setTimeout(() => socket.end(ping), delay))
    })
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const samples = await samplesOf([java('slow', '127.0.0.1', server.port)])
  const time = Number(
    samples
      .find((sample) => sample.includes('response_time'))
      ?.split(' ')
      .at(-1),
  )
  expect(time).toBeGreaterThanOrEqual(0.055)
})
