import { createHmac } from 'node:crypto'
import { mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { openNotifier } from '../../src/notify/open.ts'
import { readNotify } from '../../src/notify/settings.ts'
import { parseTree } from '../../src/util/yaml.ts'
import { fakeFleet, type Script } from '../helpers/fake-fleet.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { until } from '../helpers/until.ts'

const up = { status: { playersOnline: 3, playersMax: 20, version: '1.21.11', motd: 'Hi' } }
const down = { status: new SourceError('refused', 'connection refused') }

interface Options {
  readonly scripts?: Record<string, Script>
  readonly dataDir?: string
  readonly maintained?: Set<string>
}

/** A notifier of servers that follow scripts, with a manual clock. `poll` polls every server, five seconds after the last poll. */
async function startNotifier(yaml: string, { scripts = { survival: { ...up } }, dataDir, maintained = new Set() }: Options = {}) {
  const problems: string[] = []
  const settings = readNotify(parseTree(yaml, 'test.yaml', problems) ?? null, 'test.yaml', problems)
  expect(problems).toEqual([])
  if (settings === undefined) throw new Error('no settings')
  const clock = manualClock()
  const log = collectLog()
  const fleet = fakeFleet(scripts, clock)
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'notify-')))
  const notifier = await openNotifier({
    settings,
    fleet,
    clock,
    log,
    stateFolder: folder,
    maintenanceOf: (server) => (maintained.has(server) ? { reason: '', until: 0 } : null),
  })
  let isClosed = false
  const close = async () => {
    if (!isClosed) await notifier.close()
    isClosed = true
    fleet.close()
  }
  onTestFinished(close)
  const poll = async (count = 1) => {
    for (let index = 0; index < count; index++) {
      await clock.advance(5_000)
      await fleet.pollAll()
      // What has been told is read and stored in microtasks.
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    }
  }
  return { clock, log, fleet, notifier, folder, poll, close, scripts: fleet.scripts }
}

const webhookOf = (url: string, more = '') =>
  `{ allowPrivate: true, restartGrace: 0s, channels: [{ type: webhook, name: ops, url: "${url}"${more} }] }`

test('tells a webhook once that a server is down and up again, with signature and durations', async () => {
  const receiver = await startReceiver()
  const { poll, scripts, notifier } = await startNotifier(webhookOf(receiver.url, ', secret: s3cret'))
  await poll(3)
  scripts.survival = down
  await poll(4)
  await until(() => receiver.accepted.length === 1)
  scripts.survival = { ...up }
  await poll(4)
  await until(() => receiver.accepted.length === 2)
  const [first, second] = receiver.accepted
  expect(first?.json).toMatchObject({
    event: 'down',
    server: 'survival',
    group: null,
    error: 'refused',
    text: 'survival is down: refused',
    duration: null,
  })
  expect(Object.keys(first?.json)).toEqual(['id', 'at', 'event', 'server', 'group', 'text', 'error', 'duration', 'state'])
  expect(second?.json).toMatchObject({
    event: 'up',
    duration: 20,
    error: null,
    state: { up: true, online: 3, maintenance: null },
  })
  for (const { headers, body, json } of receiver.accepted) {
    expect(headers['x-tickwarden-id']).toBe(json.id)
    expect(headers['content-type']).toBe('application/json')
    const timestamp = headers['x-tickwarden-timestamp']
    expect(timestamp).toMatch(/^\d{10}$/)
    const signature = createHmac('sha256', 's3cret').update(`${timestamp}.${body}`).digest('hex')
    expect(headers['x-tickwarden-signature']).toBe(`sha256=${signature}`)
  }
  await until(() => notifier.metrics()[0]?.sent === 2)
  expect(notifier.metrics()).toEqual([{ channel: 'ops', sent: 2, failed: 0, dropped: 0, waiting: 0 }])
})

test('says nothing at the start, of a single failed poll, and of what is unknown', async () => {
  const receiver = await startReceiver()
  const { poll, scripts, clock } = await startNotifier(webhookOf(receiver.url), { scripts: { survival: down, other: { ...up } } })
  await poll(5)
  scripts.other = down
  await poll()
  scripts.other = { ...up }
  await poll(3)
  // Without polls, everything becomes unknown.
  await clock.advance(600_000)
  await poll(3)
  scripts.other = down
  await poll(3)
  await until(() => receiver.accepted.length === 1)
  expect(receiver.accepted[0]?.json).toMatchObject({ event: 'down', server: 'other' })
})

test('a server that is stopped until a player joins is not down', async () => {
  const receiver = await startReceiver()
  const { poll, scripts } = await startNotifier(webhookOf(receiver.url), { scripts: { a: { ...up }, b: { ...up } } })
  await poll(3)
  scripts.a = { status: new SourceError('asleep', 'a proxy answers') }
  scripts.b = down
  await poll(4)
  await until(() => receiver.accepted.length === 1)
  expect(receiver.accepted[0]?.json.server).toBe('b')
})

test('an outage within restartGrace is a restart', async () => {
  const receiver = await startReceiver()
  const yaml = `{ allowPrivate: true, channels: [{ type: webhook, name: ops, url: "${receiver.url}" }] }`
  const { poll, scripts } = await startNotifier(yaml)
  await poll(3)
  scripts.survival = down
  await poll(10)
  scripts.survival = { ...up }
  await poll(3)
  await until(() => receiver.accepted.length === 1)
  expect(receiver.accepted[0]?.json).toMatchObject({ event: 'restart', duration: 50, text: 'survival restarted in 50 s' })
  scripts.survival = down
  await poll(30)
  await until(() => receiver.accepted.length === 2)
  expect(receiver.accepted[1]?.json).toMatchObject({ event: 'down', duration: 15 })
})

test.each([3_600_000, -3_600_000])(
  'an outage during which the clock is set by %d ms is told once, when it has lasted',
  async (jump) => {
    const receiver = await startReceiver()
    const yaml = `{ allowPrivate: true, restartGrace: 1m, channels: [{ type: webhook, name: ops, url: "${receiver.url}", minPause: 1m }] }`
    const { poll, scripts, clock } = await startNotifier(yaml)
    await poll(3)
    scripts.survival = down
    await poll(5)
    clock.jump(jump)
    await poll(5)
    expect(receiver.requests).toHaveLength(0)
    await poll(5)
    await until(() => receiver.accepted.length === 1)
    clock.jump(-jump)
    await poll(5)
    scripts.survival = { ...up }
    await poll(20)
    await until(() => receiver.accepted.length === 2)
    expect(receiver.accepted.map(({ json }) => json.event)).toEqual(['down', 'up'])
    for (const { json } of receiver.accepted) expect(json.duration ?? 0).toBeGreaterThanOrEqual(0)
  },
)

test('follows each event, by servers and groups', async () => {
  const receiver = await startReceiver()
  const events = 'hung, lagging, full, empty, join, leave, version, record, trouble'
  const { poll, scripts } = await startNotifier(
    webhookOf(receiver.url, `, servers: ["surv*"], after: 1, events: [${events}]`).replace(
      '{',
      '{ laggingFor: 0s, troubleAfter: 0s,',
    ),
    { scripts: { survival: { ...up, rcon: {} }, lobby: { ...up } } },
  )
  const told = () => receiver.accepted.map(({ json }) => `${json.server} ${json.event}: ${json.text}`)
  const status = (fields: object) => ({ status: { ...up.status, ...fields }, rcon: { tickRate: 20 } })
  const players = (...names: readonly string[]) => ({ complete: true, players: names.map((name) => ({ name })) })
  scripts.survival = status({ players: players('Ann', 'Bob') })
  await poll(2)
  scripts.survival = status({ players: players('Bob', 'Cy'), playersOnline: 20, version: '1.21.12' })
  scripts.lobby = down
  await poll(2)
  scripts.survival = { ...status({ playersOnline: 0, version: '1.21.12' }), rcon: { tickRate: 12 } }
  await poll(2)
  scripts.survival = { ...status({ version: '1.21.12' }), rcon: new SourceError('auth', 'wrong password') }
  await poll(2)
  await until(() => receiver.accepted.length === 8)
  expect(told()).toEqual([
    'survival full: survival is full: 20 of 20 players',
    'survival version: survival now runs 1.21.12',
    'survival record: survival has a new record: 20 players at once',
    'survival leave: Ann left survival',
    'survival join: Cy joined survival',
    'survival lagging: survival lags: 12 ticks per second',
    'survival empty: survival is empty',
    'survival trouble: survival: source rcon fails (auth)',
  ])
})

test('joins several servers in one message of a chat, and counts those beyond ten', async () => {
  const receiver = await startReceiver()
  const names = Array.from({ length: 27 }, (_, index) => `server-${index}`)
  const yaml = `{ allowPrivate: true, restartGrace: 0s, channels: [
    { type: slack, name: slack, url: "${receiver.url}/slack" }, { type: webhook, name: hook, url: "${receiver.url}/hook" } ] }`
  const { poll, scripts, clock } = await startNotifier(yaml, {
    scripts: Object.fromEntries(names.map((name) => [name, { ...up }])),
  })
  await poll(3)
  for (const name of names) scripts[name] = down
  await poll(3)
  await clock.advance(5_000)
  await until(() => receiver.accepted.length === 28)
  const [slack] = receiver.accepted.filter(({ path }) => path === '/slack')
  expect(slack?.json.text.split('\n')).toHaveLength(11)
  expect(slack?.json.text).toMatch(/and 17 more$/)
  const hooks = receiver.accepted.filter(({ path }) => path === '/hook').map(({ json }) => json.server)
  expect(hooks.toSorted()).toEqual(names.toSorted())
})

test('tells nothing during maintenance, and afterwards what still holds', async () => {
  const receiver = await startReceiver()
  const maintained = new Set<string>()
  const { poll, scripts } = await startNotifier(webhookOf(receiver.url), { scripts: { a: { ...up }, b: { ...up } }, maintained })
  await poll(3)
  maintained.add('a').add('b')
  scripts.a = down
  scripts.b = down
  await poll(5)
  scripts.b = { ...up }
  await poll(3)
  expect(receiver.requests).toEqual([])
  maintained.clear()
  await poll(3)
  await until(() => receiver.accepted.length === 1)
  expect(receiver.accepted[0]?.json).toMatchObject({ server: 'a', event: 'down' })
})

test('quiet hours hold what is not excepted until they end', async () => {
  const receiver = await startReceiver()
  // The clock starts at 22:13 UTC.
  const quiet = 'quietHours: { from: "23:00", to: "23:30", timezone: Europe/London, except: [down] }'
  const { poll, scripts, clock } = await startNotifier(webhookOf(receiver.url).replace('{', `{ ${quiet},`), {
    scripts: { a: { ...up }, b: { ...up } },
  })
  await poll(3)
  await clock.advance(50 * 60_000)
  await poll(3)
  scripts.a = down
  await poll(3)
  await until(() => receiver.accepted.length === 1)
  scripts.a = { ...up }
  await poll(3)
  expect(receiver.requests).toHaveLength(1)
  await clock.advance(30 * 60_000)
  await poll(3)
  await until(() => receiver.accepted.length === 2)
  expect(receiver.accepted.map(({ json }) => json.event)).toEqual(['down', 'up'])
})

test('repeats a state that lasts, and keeps the minimum pause', async () => {
  const receiver = await startReceiver()
  const { poll, scripts } = await startNotifier(
    webhookOf(receiver.url, ', repeat: 1m, minPause: 30s, after: 1, events: [down, up]'),
  )
  await poll(2)
  scripts.survival = down
  await poll(2)
  scripts.survival = { ...up }
  await poll(2)
  scripts.survival = down
  await poll(30)
  await until(() => receiver.accepted.length === 3)
  expect(receiver.accepted.map(({ json }) => [json.event, json.duration])).toEqual([
    ['down', null],
    ['down', 60],
    ['down', 120],
  ])
})

test('delivers after a restart what was not accepted, with the same id, and does not tell it again', async () => {
  const receiver = await startReceiver()
  receiver.answers.push(
    ...Array.from({ length: 50 }, () => (response: import('node:http').ServerResponse) => void response.writeHead(503).end()),
  )
  const first = await startNotifier(webhookOf(receiver.url))
  await first.poll(3)
  first.scripts.survival = down
  await first.poll(3)
  await until(() => receiver.requests.length > 0)
  await first.close()
  receiver.answers.length = 0
  // Of a process that was killed while it wrote.
  await writeFile(join(first.folder, 'notify', 'ops.json.123'), '')
  const second = await startNotifier(webhookOf(receiver.url), { scripts: { survival: down }, dataDir: first.folder })
  expect(await readdir(join(first.folder, 'notify'))).toEqual(expect.not.arrayContaining(['ops.json.123']))
  await until(() => receiver.accepted.length === 1)
  await second.poll(3)
  second.scripts.survival = { ...up }
  await second.poll(3)
  await until(() => receiver.accepted.length === 2)
  expect(receiver.accepted.map(({ json }) => json.event)).toEqual(['down', 'up'])
  expect(receiver.accepted[0]?.json.id).toBe(receiver.requests[0]?.json.id)
})

test('gives up after another 4xx, and for an address that is not allowed', async () => {
  const receiver = await startReceiver()
  receiver.answers.push((response) => void response.writeHead(404).end())
  const port = new URL(receiver.url).port
  const { poll, scripts, log, notifier } = await startNotifier(
    `{ allowPrivate: true, restartGrace: 0s, channels: [{ type: webhook, name: gone, url: "${receiver.url}" }] }`,
  )
  const blocked = await startNotifier(
    `{ restartGrace: 0s, channels: [{ type: webhook, name: private, url: "http://localhost:${port}" }, { type: webhook, name: literal, url: "http://[::ffff:127.0.0.1]:${port}" }] }`,
  )
  for (const one of [{ poll, scripts }, blocked]) {
    await one.poll(3)
    one.scripts.survival = down
    await one.poll(3)
  }
  await until(() => notifier.metrics()[0]?.failed === 1 && blocked.notifier.metrics().every(({ failed }) => failed === 1))
  expect(receiver.requests).toHaveLength(1)
  expect(log.lines).toContainEqual('error: gone: a notification is given up (it answers 404)')
  expect(blocked.log.lines.join()).toContain(
    'private: a notification is given up (its address is private; set notify.allowPrivate to allow it)',
  )
})

test('a notification lists at most 1,000 players', async () => {
  const receiver = await startReceiver()
  const withPlayers = (count: number): Script => {
    const players = Array.from({ length: count }, (_, index) => ({ name: `p${index}` }))
    return { status: { playersOnline: count, playersMax: 2_000 }, rcon: { players: { complete: true, players } } }
  }
  const { poll, scripts } = await startNotifier(webhookOf(receiver.url, ', events: [join]'), {
    scripts: { survival: withPlayers(999) },
  })
  await poll(2)
  for (const count of [1_000, 1_001]) {
    scripts.survival = withPlayers(count)
    await poll(1)
  }
  await until(() => receiver.accepted.length === 2)
  const states = receiver.accepted.map(({ json }) => json.state)
  expect(states.map(({ online, players }) => [online, players?.length ?? null])).toEqual([
    [1_000, 1_000],
    [1_001, null],
  ])
})
