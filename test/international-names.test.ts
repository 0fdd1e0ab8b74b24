import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createAllowList } from '../exporter/probe/allow-list.ts'
import { createTargetFinder } from '../exporter/probe/target.ts'
import { loadConfig } from '../src/config/config.ts'
import { parseServerFile, readServerValues } from '../src/config/parse-servers.ts'
import { createDiscovery } from '../src/discovery/discovery.ts'
import { systemNetwork } from '../src/game/network.ts'
import { FrameReader } from '../src/game/protocol/status/frames.ts'
import { addressOf, type ServerSettings } from '../src/game/server-settings.ts'
import { StatusSource } from '../src/game/sources/status/index.ts'
import { parseWatchOptions } from '../src/library/options.ts'
import { systemClock } from '../src/util/clock.ts'
import { silentLog } from '../src/util/log.ts'
import { temporaryFolder } from './helpers/discovering-service.ts'
import { hostileServer } from './helpers/hostile-servers.ts'
import { manualClock } from './helpers/manual-clock.ts'
import { never } from './helpers/never.ts'
import { encodeStatus } from './helpers/status-packets.ts'

const given = ' münchen.example:25566 '
const ascii = 'xn--mnchen-3ya.example'
const address = { edition: 'java', host: ascii, port: 25_566 } as const
const addressesOf = (servers: readonly ServerSettings[]) => servers.map((server) => addressOf(server))

it('are accepted in the environment, with blanks around them', () => {
  const { servers } = loadConfig({
    env: {
      MC_SERVER: given,
      MC_HOSTNAME: ' münchen.example',
      MC_RCON: ' münchen.example ',
      MC_RCON_PASSWORD: 'secret',
      MC_QUERY: given,
      MC_MANAGEMENT: ' wss://münchen.example:25585',
      MC_MANAGEMENT_SECRET: 's'.repeat(40),
      MC_VIA: ' socks5://münchen.example ',
    },
  })
  expect(servers).toMatchObject([
    {
      sources: {
        status: { address, hostname: ascii },
        rcon: { address: { host: ascii, port: 25_575 } },
        query: { address: { host: ascii, port: 25_566 } },
        management: { url: expect.stringContaining(`wss://${ascii}:25585`) },
      },
      via: { protocol: 'socks5', host: ascii, port: 1080 },
    },
  ])
})

it('are accepted in the config file and by the library', () => {
  const file = join(temporaryFolder(), 'tickwarden.yaml')
  writeFileSync(file, `servers:\n  - { name: a, address: "${given}" }\n  - { name: b, address: "bedrock://münchen.example" }\n`)
  expect(addressesOf(loadConfig({ env: { TICKWARDEN_CONFIG: file } }).servers)).toEqual([
    address,
    { edition: 'bedrock', host: ascii, port: 19_132 },
  ])
  expect(addressOf(parseWatchOptions({ address: given }).server)).toEqual(address)
})

it.each([
  ['discoveryVelocity', 'velocity.toml', `[servers]\na = "${given}"\n`],
  ['discoveryBungeecord', 'config.yml', `servers:\n  a:\n    address: "${given}"\n`],
  ['discoveryMcRouter', 'routes.json', JSON.stringify({ mappings: { 'play.example.org': given } })],
  ['discoveryFileSd', 'targets.json', JSON.stringify([{ targets: [given] }])],
  [
    'discoveryFileSd',
    'labels.json',
    JSON.stringify([
      {
        targets: ['name'],
        labels: {
          __meta_tickwarden_edition: 'java',
          __meta_tickwarden_host: 'münchen.example',
          __meta_tickwarden_port: '25566',
        },
      },
    ]),
  ],
])('are accepted by %s in %s', async (setting, name, text) => {
  const file = join(temporaryFolder(), name)
  writeFileSync(file, text)
  const discovery = createDiscovery({
    parseServers: parseServerFile,
    readServer: readServerValues,
    settings: { [setting]: setting === 'discoveryFileSd' ? [file] : file },
    readConfig: () => [],
    clock: manualClock(),
    log: silentLog,
  })
  onTestFinished(() => discovery.close())
  await discovery.firstRead
  expect(addressesOf(discovery.servers())).toEqual([address])
})

it('are accepted as targets of /probe, and in its allow list', () => {
  const watched: ServerSettings = { name: 'a', sources: { status: { address } } }
  const find = createTargetFinder({ servers: [watched] })
  for (const text of [given, 'münchen.example', ascii, ' a ']) expect(find(text)).toEqual({ settings: watched, configured: true })
  expect(find(' other.münchen.example ')).toMatchObject({
    settings: { name: 'other.münchen.example', sources: { status: { address: { host: `other.${ascii}` } } } },
    configured: false,
  })
  const { probeAllow } = loadConfig({ env: { PROBE_ALLOW: 'münchen.example, *.münchen.example' } }).metrics
  const allowed = createAllowList(probeAllow!)
  expect(allowed.mayAllow(ascii)).toBe(true)
  expect(allowed.mayAllow(`other.${ascii}`)).toBe(true)
})

it('are resolved and sent in the handshake in Punycode', async () => {
  const hosts: string[] = []
  await using server = await hostileServer((socket) => {
    const frames = new FrameReader()
    socket.on('data', (chunk: Buffer) => {
      frames.push(chunk)
      hosts.push(frames.next()?.body.toString('latin1') ?? '')
      socket.end(encodeStatus('{}'))
    })
  })
  const resolved: string[] = []
  const network = {
    ...systemNetwork,
    lookup: async (host: string) => {
      resolved.push(host)
      return [{ address: '127.0.0.1', family: 4 }]
    },
  }
  const { servers } = loadConfig({ env: { MC_SERVER: `münchen.example:${server.port}` } })
  const found = addressOf(servers[0]!)!
  const context = { clock: systemClock, log: silentLog, random: () => 0, push() {}, network }
  await new StatusSource(found, context).poll(never())
  expect(resolved).toEqual([ascii])
  expect(hosts[0]).toContain(ascii)
})
