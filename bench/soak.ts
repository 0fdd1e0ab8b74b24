import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { duration } from '../src/settings/kinds/index.ts'
import { readOptions } from './options.ts'
import { startBenchRedis } from './replica/redis.ts'
import { followForever, requestForever, type Tally } from './soak/clients.ts'
import { startGameServers } from './soak/game-servers.ts'
import { PollCheck } from './soak/polls.ts'
import { hostNameOf, type Replica, startReplica } from './soak/services.ts'
import { fitTrend } from './soak/trend.ts'
import { waitUntil } from './wait.ts'

// Two replicas of the built service run for half an hour while everything around them changes. Nothing may fail, get lost or grow.

/** Servers by what happens to them; the names are `s0`, `s1`, ... */
const [stable, failing, changing] = [120, 40, 40]
/** How many servers of the list change at a time. */
const perChange = 10
const outagesAtOnce = 4

const given = readOptions('duration').text('duration') ?? '30m'
const durationMs = duration('20s', '7d').parse(given)
if (durationMs === undefined) {
  console.error(`--duration is ${given}; expected a duration from 20s to 7d, such as 30m.`)
  process.exit(2)
}
const isShort = durationMs < 600_000
/**
 * A smaller growth counts as noise: what the JIT compiler keeps, and connections that happen to be open. In a minute, a busy machine
 * is still loading and compiling.
 */
const minNoise = { heap: (isShort ? 8 : 4) * 1_048_576, descriptors: 10 }
/** How often a short run is extended by the same time if something has grown: a busy machine may still have been loading and compiling. */
const maxExtensions = 2
/** The part of the time after which heap and descriptors are sampled. */
const warmUp = 0.25

const problems: string[] = []
const tally: Tally = { requests: 0, events: 0, streams: 0, problems }
const folder = mkdtempSync(join(tmpdir(), 'tickwarden-soak-'))
const over = new AbortController()
const { signal } = over

/** Replaces a file at once, as editors and update scripts do. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

/** Every entry has the number of its snapshot, so that a reply from two of them is noticed. */
const snapshotOf = (number: number) =>
  JSON.stringify([
    { last_update: '2024-02-03 04:05:06 UTC' },
    ...Array.from({ length: 500 + (number % 50) }, (_, id) => ({
      ...{ date: '2019-11-1', time: '18:00', artist: `artist${id % 7}`, title: `v${number}`, types: ['mini'], links: [] },
    })),
  ])
const titlesOf = (path: string, body: string): string | undefined => {
  if (!path.includes('/filter/')) return undefined
  const titles = new Set(body.match(/"title":"v\d+"/g))
  return titles.size === 1 ? undefined : `${titles.size} snapshots in one reply`
}

const servers = await startGameServers()
const redis = await startBenchRedis()

// A receiver of notifications, which keeps what it was sent.
const received: { id: string; event: string; server: string }[] = []
const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  received.push(JSON.parse(body))
  response.writeHead(204).end()
})
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

// The servers of each replica: the same, but with the name of the replica in the handshake.
let generation = 0
const targetsOf = (replica: string) => join(folder, `${replica}.json`)
function writeTargets(replicas: readonly string[]): void {
  const list = (replica: string) =>
    Array.from({ length: stable + failing + changing }, (_, index) => {
      // The oldest ones of those that change get another name, or another address.
      const turn = index < stable + failing ? 0 : Math.floor((generation * perChange + index) / changing)
      const name = turn % 2 === 0 ? `s${index}` : `s${index}-${turn}`
      const address = servers.address(index + changing * (Math.floor(turn / 2) % 3))
      return { targets: [address], labels: { name, __tickwarden_hostname: hostNameOf(replica) } }
    })
  for (const replica of replicas) replace(targetsOf(replica), JSON.stringify(list(replica)))
}

mkdirSync(join(folder, 'data'))
const data = join(folder, 'data', 'kcomebacks.json')
replace(data, snapshotOf(0))
const config = `notify:
  allowPrivate: true
  restartGrace: 0s
  channels:
    - { type: webhook, name: hook, url: "${hook}", events: [down, up] }
`
const start = async (name: string): Promise<Replica> => {
  writeTargets([name])
  const replica = await startReplica(name, {
    ...{ folder, targets: targetsOf(name), config },
    env: {
      ...{ DATA_DIR: join(folder, 'data'), STATE_URL: redis.url, STATE_HEARTBEAT: '2s' },
      ...{ POLL_INTERVAL: '4s', POLL_TIMEOUT: '4s', STALE_AFTER: '30s', CLIENT_PICTURES: '100000' },
    },
  })
  await waitUntil(`the first polls of ${name}`, async () => (await fetch(`${replica.url}/readyz`)).ok)
  return replica
}

const long = await Promise.all(['a', 'b'].map(start))
const present = new Set(long.map(({ name }) => name))
const begun = performance.now()
const figures = { changes: 0, snapshots: 0, outages: 0, replicas: 0, killed: 0 }
const polls = new PollCheck(servers, new Map(Array.from({ length: stable + failing }, (_, index) => [`s${index}`, index])))

/** Does something again and again. An error is a problem, and does not end it. */
async function repeat(pauseMs: number, action: () => Promise<void> | void): Promise<void> {
  while (!signal.aborted) {
    try {
      await action()
    } catch (error) {
      problems.push((error as Error).message)
    }
    await setTimeout(pauseMs)
  }
}

const page = ['/', '/servers/s1', '/page/servers', '/api/v1/servers/s2/banner.png', '/api/v1/servers/s3/badge.svg', '/healthz']
const api = ['/api/v1/servers', '/api/v1/sources', ...[5, 25, 55, 95].map((n) => `/api/v1/servers/s${n}/getall`)]
const histories = ['history?range=1h', 'uptime', 'sessions', 'currentplayercount'].map((path) => `/api/v1/servers/s7/${path}`)
const comebacks = ['getall?limit=50&offset=450', 'artist?artist=artist3&limit=50&offset=0', 'type?type=mini&limit=50&offset=9']
const filters = comebacks.map((filter) => `/v1/kcomebacks/filter/${filter}`)

async function suffer(server: number): Promise<void> {
  const isTold = async (event: string, count: number) =>
    received.filter((one) => one.server === `s${server}` && one.event === event).length >= count
  const before = received.filter((one) => one.server === `s${server}`).length / 2
  servers.down.add(server)
  await waitUntil(`the notification that s${server} is down`, () => isTold('down', before + 1))
  servers.down.delete(server)
  await waitUntil(`the notification that s${server} is up`, () => isTold('up', before + 1))
  figures.outages++
}

/** A third replica comes, and leaves: each second one is killed. */
async function visit(): Promise<void> {
  const name = `c${figures.replicas}`
  present.add(name)
  const replica = await start(name)
  await waitUntil(`polls by ${name}`, async () => servers.total(hostNameOf(name)) > 100)
  const isKilled = figures.replicas++ % 2 === 1
  const code = await replica.end(isKilled ? 'SIGKILL' : 'SIGTERM')
  present.delete(name)
  if (isKilled) figures.killed++
  else if (code !== 0) problems.push(`the replica ${name} has ended with code ${code}`)
}

const samples = new Map(
  long.map((replica) => [replica, { heap: [] as [number, number][], descriptors: [] as [number, number][] }]),
)
const activities = [
  repeat(2_000, () => {
    generation++
    figures.changes += perChange
    writeTargets([...present])
  }),
  repeat(2_000, () => {
    replace(data, snapshotOf(++figures.snapshots))
  }),
  ...Array.from({ length: outagesAtOnce }, (_, lane) => {
    let turn = lane
    return repeat(0, () => {
      turn += outagesAtOnce
      return suffer(stable + (turn % failing))
    })
  }),
  repeat(5_000, visit),
  ...long.flatMap((replica) => [
    requestForever(replica.url, page, 200, signal, tally),
    requestForever(replica.url, [...api, ...histories], 100, signal, tally),
    requestForever(replica.url, filters, 100, signal, tally, titlesOf),
    followForever(replica.url, ['/api/v1/events', '/page/events'], 1_000, signal, tally),
    repeat(1_000, async () => {
      tally.requests++
      await polls.scrape(replica)
    }),
    repeat(Math.max(4_000, durationMs / 300), async () => {
      const at = performance.now() - begun
      const [heap, descriptors] = [await replica.heap(), replica.descriptors()]
      if (at < durationMs * warmUp) return
      samples.get(replica)?.heap.push([at, heap])
      samples.get(replica)?.descriptors.push([at, descriptors])
    }),
  ]),
]
const number = (value: number) => value.toLocaleString('en-GB', { maximumFractionDigits: 1 })

/** What has been measured of each replica since the samples began. */
function trends() {
  return [...samples].flatMap(([{ name }, { heap, descriptors }]) =>
    (
      [
        ['heap', ' MiB', heap, 1_048_576],
        ['descriptors', '', descriptors, 1],
      ] as const
    ).map(([what, unit, values, scale]) => {
      const { growth, noise, mean } = fitTrend(values)
      const bound = Math.max(noise, minNoise[what])
      const [shownMean, shownGrowth, shownBound] = [mean, growth, bound].map((value) => `${number(value / scale)}${unit}`)
      return {
        row: [`${what} of replica ${name}: mean, growth (bound)`, `${shownMean}, ${shownGrowth} (${shownBound})`] as const,
        problem: growth > bound ? `${name}: ${what} has grown by ${shownGrowth}` : undefined,
      }
    }),
  )
}

await setTimeout(durationMs)
// A leak also grows in the extension; what is loaded once does not.
for (let count = 0; isShort && count < maxExtensions && trends().some(({ problem }) => problem !== undefined); count++) {
  for (const { heap, descriptors } of samples.values()) heap.length = descriptors.length = 0
  await setTimeout(durationMs)
}
over.abort()
await Promise.all(activities)

const ids = new Set(received.map(({ id }) => id))
// A replica may be killed between a message and its reply: the next one sends it again under the same id (docs/notifications.md).
const repeated = received.length - ids.size
if (repeated > figures.killed)
  problems.push(`${repeated} notifications were sent twice, but ${figures.killed} replicas were killed`)
if (ids.size !== 2 * figures.outages) problems.push(`${ids.size} notifications of ${figures.outages} outages`)
problems.push(...polls.problems)

const rows: (readonly [string, string])[] = [
  ['duration', given],
  ['requests, of which failed', `${number(tally.requests)}, ${number(problems.filter((one) => one.startsWith('/')).length)}`],
  ['event streams opened, events received', `${number(tally.streams)}, ${number(tally.events)}`],
  [
    'polls; compared with the metrics, of which not counted',
    `${number(servers.total())}; ${number(polls.compared)}, ${polls.problems.length}`,
  ],
  ['outages; notifications, of which sent twice', `${figures.outages}; ${received.length}, ${repeated}`],
  ['changes of the list of servers', number(figures.changes)],
  ['snapshots of the data service', number(figures.snapshots)],
  ['replicas that came and left, of which killed', `${figures.replicas}, ${figures.killed}`],
]
for (const { row, problem } of trends()) {
  rows.push(row)
  if (problem !== undefined) problems.push(problem)
}
console.log(`| what | figure |\n| --- | --- |\n${rows.map(([what, figure]) => `| ${what} | ${figure} |`).join('\n')}`)
for (const problem of problems.slice(0, 50)) console.error(problem)

for (const replica of long) {
  const code = await replica.end('SIGTERM')
  if (code !== 0) problems.push(`the replica ${replica.name} has ended with code ${code}`)
}
redis.close()
rmSync(folder, { recursive: true, force: true })
if (problems.length > 0) console.error(`${problems.length} problems`)
process.exit(problems.length > 0 ? 1 : 0)
