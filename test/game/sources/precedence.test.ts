import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type DemoOptions, type DemoServer, startDemoServer } from '../../../src/demo/demo-server.ts'
import { precedence } from '../../../src/game/merge.ts'
import { createDirectorySource } from '../../../src/game/sources/directory/index.ts'
import { createJmxSource } from '../../../src/game/sources/jmx/index.ts'
import { ManagementSource } from '../../../src/game/sources/management/management-source.ts'
import type { SourceName } from '../../../src/game/sources/names.ts'
import { createQuerySource } from '../../../src/game/sources/query/index.ts'
import { RconSource } from '../../../src/game/sources/rcon/rcon-source.ts'
import type { Reading, Source } from '../../../src/game/sources/source.ts'
import { StatusSource } from '../../../src/game/sources/status/index.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'
import { bedrockServer, pong } from '../../helpers/bedrock-server.ts'
import { hostileServer } from '../../helpers/hostile-servers.ts'
import { managementServer } from '../../helpers/management-server.ts'
import { never } from '../../helpers/never.ts'
import { listenRconPeer, packet } from '../../helpers/rcon-peer.ts'
import { encodeStatus } from '../../helpers/status-packets.ts'

const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }

/** The fields that a source provides in some polls: enough for each command to have had its turn. */
async function read(source: Source, polls = 1): Promise<string[]> {
  onTestFinished(() => source.close())
  const fields: string[] = []
  for (let poll = 0; poll < polls; poll++) fields.push(...Object.keys((await source.poll(never())).fields))
  return fields
}

async function readDemo(options: DemoOptions, make: (server: DemoServer) => Source, polls?: number): Promise<string[]> {
  const server = await startDemoServer(options)
  onTestFinished(() => server.close())
  return read(make(server), polls)
}

async function readForgeStatus(): Promise<string[]> {
  const modList = [{ modid: 'forge', version: '14.23.5.2859' }]
  const reply = encodeStatus(JSON.stringify({ modinfo: { type: 'FML', modList } }))
  const { port, ...server } = await hostileServer((socket) => void socket.once('data', () => socket.write(reply)))
  onTestFinished(() => server[Symbol.asyncDispose]())
  return read(new StatusSource({ edition: 'java', host: '127.0.0.1', port }, context))
}

async function readProxyStatus(): Promise<string[]> {
  const reply = encodeStatus(JSON.stringify({ version: { name: 'Velocity 1.7.2-26.1', protocol: 774 } }))
  const { port, ...server } = await hostileServer((socket) => void socket.once('data', () => socket.write(reply)))
  onTestFinished(() => server[Symbol.asyncDispose]())
  return read(new StatusSource({ edition: 'java', host: '127.0.0.1', port }, context, { asleepMotd: 'asleep' }))
}

/** The readings pushed while the server starts. */
async function readWorldUpgrade(): Promise<string[]> {
  const server = await managementServer()
  const pushed: string[] = []
  const push = ({ fields }: Reading) => void pushed.push(...Object.keys(fields))
  const source = new ManagementSource({ url: server.url, secret: server.secret }, { ...context, push })
  onTestFinished(() => server.close())
  const polled = await read(source)
  server.notify('minecraft:notification/world/upgrade_progress', [0.5])
  await expect.poll(() => pushed.length).toBeGreaterThan(0)
  return [...polled, ...pushed]
}

async function readBukkitRcon(): Promise<string[]> {
  const version =
    'This server is running CraftBukkit version 3638-Spigot-d90018e-7dafabf (MC: 1.19.3) (Implementing API version 1.19.3-R0.1-SNAPSHOT)'
  const peer = await listenRconPeer(({ socket, id, type, body }) => {
    const unknown = type === 2 ? 'Unknown command. Type "/help" for help.' : 'Unknown request 64'
    socket.write(packet(id, 0, type === 2 && body === 'version' ? version : unknown))
  })
  onTestFinished(() => peer.close())
  return read(new RconSource({ address: peer.address, password: 'password' }, context), 10)
}

async function readBedrock(): Promise<string[]> {
  const server = await bedrockServer((reply) => reply(pong('MCPE;Hi;924;1.21.130;2;10;1234;level;Creative;1;19132;19133;')))
  onTestFinished(() => server[Symbol.asyncDispose]())
  return read(new StatusSource({ edition: 'bedrock', host: '127.0.0.1', port: server.port }, context))
}

function readDirectory(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-precedence-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const properties = ['motd=Hi', 'server-ip=192.0.2.7', 'server-port=25570', 'gamemode=creative', 'max-players=5', 'level-name=a']
  properties.push('difficulty=hard', 'view-distance=12', 'pause-when-empty-seconds=60')
  const lines = ['Starting minecraft server version 1.21.11', 'Done (3.5s)! For help, type "help"']
  mkdirSync(join(folder, 'logs'))
  writeFileSync(join(folder, 'server.properties'), properties.join('\n'))
  writeFileSync(join(folder, 'server-icon.png'), 'icon')
  writeFileSync(join(folder, 'version_history.json'), '{"currentVersion":"1.21.11-232-12d8fe0 (MC: 1.21.11)"}')
  writeFileSync(join(folder, 'logs/latest.log'), lines.map((line) => `[12:34:56] [Server thread/INFO]: ${line}\n`).join(''))
  return read(createDirectorySource(folder, context))
}

async function readJmx() {
  const beans = [
    { tickTimes: [1e6] },
    { 'java.lang:name=Heap,type=MemoryPool': { Usage: { used: 5, max: 9 } } },
    { 'java.lang:name=Young,type=GarbageCollector': { CollectionCount: 1, CollectionTime: 2 } },
    { ThreadCount: 3 },
  ]
  const reply = JSON.stringify(beans.map((value) => ({ status: 200, value })))
  const server = createServer((_, response) => void response.end(reply)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    return await read(createJmxSource({ url: `http://127.0.0.1:${port}/jolokia` }, context))
  } finally {
    server.close()
  }
}

const status = ({ address }: DemoServer) => new StatusSource(address, context)
const rcon = ({ rcon }: DemoServer) => new RconSource(rcon, context)

/** Fields that the watcher computes from those of the source. */
const computed: readonly string[] = ['tickPaused', 'tickRate']

it.each<[SourceName, () => Promise<string[]>[]]>([
  [
    'status',
    () => [
      readDemo({ motd: '§aHi' }, status),
      readDemo({ software: 'paper' }, status),
      readForgeStatus(),
      readProxyStatus(),
      readBedrock(),
    ],
  ],
  [
    'rcon',
    () => [...(['vanilla', 'paper', 'forge'] as const).map((software) => readDemo({ software }, rcon, 10)), readBukkitRcon()],
  ],
  ['management', () => [readDemo({}, ({ management }) => new ManagementSource(management!, context)), readWorldUpgrade()]],
  ['query', () => [readDemo({ software: 'paper' }, ({ query }) => createQuerySource(query, context))]],
  ['jmx', () => [readJmx()]],
  ['directory', () => [readDirectory()]],
])('%s provides the fields listed in the precedence, and no others', async (name, reads) => {
  const given = new Set((await Promise.all(reads())).flat())
  const messages = Object.entries(precedence).flatMap(([field, sources]) =>
    sources.includes(name) && !computed.includes(field) ? [field] : [],
  )
  expect([...given].sort()).toEqual(messages.sort())
})
