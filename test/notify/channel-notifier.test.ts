import { describe, expect, it, onTestFinished } from 'vitest'
import type { DiscoveryView } from '../../src/discovery/status.ts'
import { SourceError } from '../../src/game/errors.ts'
import type { Fleet } from '../../src/game/fleet.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import type { NotifierOptions } from '../../src/notify/channel-notifier.ts'
import { describeDropped, type Notification } from '../../src/notify/notification.ts'
import { Notifier } from '../../src/notify/notifier.ts'
import type { Outbox } from '../../src/notify/outbox.ts'
import type { Told } from '../../src/notify/rules.ts'
import type { ChannelSettings, NotifySettings } from '../../src/notify/settings.ts'
import { fakeFleet, type Script } from '../helpers/fake-fleet.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { testNotification } from '../helpers/notifications.ts'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { until } from '../helpers/until.ts'

// What is told to one channel, up to its outbox.

const up: Script = { status: { playersOnline: 3, playersMax: 20, version: '1.21.11' } }
const down: Script = { status: new SourceError('refused', 'connection refused') }

/** What is stored, and what is sent of it. */
class FakeOutbox implements Outbox {
  readonly commits: { readonly server: string; readonly before?: Told; readonly told?: Told; readonly events: string[] }[] = []
  readonly added: Notification[] = []
  readonly known = new Map<string, Told>()
  isFailing = false
  isTaken = false
  reads = 0
  isClosed = false

  async told(server: string) {
    this.reads++
    if (this.isFailing) throw new Error('cannot be read')
    return this.known.get(server)
  }
  async commit(server: string, before: Told | undefined, told: Told | undefined, notifications: readonly Notification[]) {
    if (this.isFailing) throw new Error('cannot be written')
    if (this.isTaken || JSON.stringify(before) !== JSON.stringify(this.known.get(server))) return false
    this.commits.push({
      server,
      ...(before && { before }),
      ...(told && { told }),
      events: notifications.map(({ event }) => event),
    })
    if (told === undefined) this.known.delete(server)
    else this.known.set(server, told)
    this.added.push(...notifications)
    return true
  }
  isSender = async () => true
  oldest = async (count: number) => this.added.slice(this.sent, this.sent + count)
  async remove(notifications: readonly Notification[]) {
    this.sent += notifications.length
  }
  sent = 0
  dropped = 0
  get length() {
    return this.added.length - this.sent
  }
  value = async () => undefined
  setValue = async () => {}
  async close() {
    this.isClosed = true
  }
}

/** Makes calls of a method wait. @returns lets the last call continue */
function holdUp(outbox: FakeOutbox, method: 'told' | 'commit'): () => void {
  const call = outbox[method].bind(outbox) as (...args: unknown[]) => Promise<unknown>
  let answer = () => {}
  const held = async (...args: unknown[]) => {
    await new Promise<void>((resolve) => {
      answer = resolve
    })
    return call(...args)
  }
  Object.assign(outbox, { [method]: held })
  return () => answer()
}

interface Options extends Partial<Omit<NotifierOptions, 'settings'>> {
  readonly channel?: Partial<ChannelSettings>
  readonly all?: Partial<NotifySettings>
  readonly scripts?: Record<string, Script>
}

async function start({ channel = {}, all = {}, scripts = { survival: { ...up } }, ...options }: Options = {}) {
  const clock = manualClock()
  const fleet = fakeFleet(scripts, clock)
  const outbox = new FakeOutbox()
  const sent: string[] = []
  const settings: ChannelSettings = {
    name: 'ops',
    type: {
      ...{ type: 'test', joins: false, keys: {} },
      async send({ notifications }) {
        sent.push(...notifications.map(({ text }) => text))
      },
    },
    ...{ values: {}, events: ['down', 'up', 'trouble'], servers: [], groups: [], after: 1, for: 0, repeat: 0, minPause: 0 },
    ...{ templates: {}, statusMessage: false, ...channel },
  }
  const notifier = await Notifier.open({
    settings: {
      ...{
        channels: [settings],
        allowPrivate: true,
        restartGrace: 0,
        laggingBelow: 0.9,
        laggingFor: 60_000,
        troubleAfter: 60_000,
      },
      ...all,
    },
    ...{ fleet, clock, log: collectLog(), maintenanceOf: () => null },
    openOutbox: async () => outbox,
    ...options,
  })
  let isClosed = false
  const close = async () => {
    if (!isClosed) await notifier.close()
    isClosed = true
    fleet.close()
  }
  onTestFinished(close)
  const settle = async () => {
    for (let turn = 0; turn < 30; turn++) await Promise.resolve()
  }
  const poll = async (count = 1) => {
    for (let index = 0; index < count; index++) {
      await clock.advance(5_000)
      await fleet.pollAll()
      await settle()
    }
  }
  return {
    notifier,
    clock,
    fleet,
    outbox,
    sent,
    poll,
    settle,
    close,
  }
}

const eventsOf = (outbox: FakeOutbox) => outbox.added.map(({ event, server }) => `${server} ${event}`)

it('tells of an outage and its end, and stores what was told with each', async () => {
  const { fleet, outbox, sent, poll, notifier } = await start()
  await poll(2)
  expect(outbox.added).toEqual([])
  fleet.scripts.survival = down
  await poll(2)
  fleet.scripts.survival = up
  await poll(2)
  expect(eventsOf(outbox)).toEqual(['survival down', 'survival up'])
  expect(outbox.added[0]).toMatchObject({ group: null, error: 'refused', state: { up: false } })
  expect(sent).toEqual([expect.stringContaining('survival is down'), expect.stringContaining('survival is up')])
  const [, first, second] = outbox.commits.filter(({ told }) => told !== undefined)
  expect(second?.before).toEqual(first?.told)
  expect(notifier.metrics()).toStrictEqual([{ channel: 'ops', sent: 2, failed: 0, dropped: 0, waiting: 0 }])
})

it('goes on with what was told before a restart', async () => {
  const first = await start()
  await first.poll(2)
  first.fleet.scripts.survival = down
  await first.poll(2)
  const told = first.outbox.known.get('survival')
  const second = await start({ scripts: { survival: down } })
  if (told !== undefined) second.outbox.known.set('survival', told)
  await second.poll(3)
  expect(second.outbox.added).toEqual([])
  second.fleet.scripts.survival = up
  await second.poll(2)
  expect(eventsOf(second.outbox)).toEqual(['survival up'])
})

describe('an outage that began before a restart of the service', () => {
  const all = { restartGrace: 60_000 }

  it('is stored as long as it is not told', async () => {
    const { clock, fleet, outbox, poll } = await start({ all })
    await poll(2)
    fleet.scripts.survival = down
    await poll(2)
    expect(outbox.known.get('survival')).toStrictEqual({ downAt: clock.wall() - 5_000 })
    fleet.scripts.survival = up
    await poll(2)
    expect(outbox.known.get('survival')).not.toHaveProperty('downAt')
  })

  it('is a restart if it ends within the grace, with all of its duration', async () => {
    const { clock, fleet, outbox, poll } = await start({ all, scripts: { survival: down } })
    outbox.known.set('survival', { downAt: clock.wall() - 40_000 })
    await poll(2)
    fleet.scripts.survival = up
    await poll()
    expect(outbox.added).toMatchObject([{ event: 'restart', duration: 55 }])
  })

  it('is told after the grace, as of its begin', async () => {
    const { clock, outbox, poll } = await start({ all, scripts: { survival: down } })
    const downAt = clock.wall() - 50_000
    outbox.known.set('survival', { downAt })
    await poll()
    expect(outbox.added).toEqual([])
    await poll()
    expect(outbox.added).toMatchObject([{ event: 'down', at: downAt }])
    expect(outbox.known.get('survival')).toMatchObject({ down: downAt, since: downAt })
  })

  it('is not told as of a time in the future, by the clock of another replica', async () => {
    const { clock, outbox, poll } = await start({ all, scripts: { survival: down } })
    outbox.known.set('survival', { downAt: clock.wall() + 3_600_000 })
    const firstPoll = clock.wall() + 5_000
    await poll(13)
    expect(outbox.added).toMatchObject([{ event: 'down', at: firstPoll }])
  })

  it('does not say when the server is up, if an earlier version has told it', async () => {
    const { clock, outbox, poll } = await start({ all, channel: { after: 2 } })
    outbox.known.set('survival', { down: clock.wall() - 40_000, downAt: clock.wall() - 100_000 })
    const firstPoll = clock.wall() + 5_000
    await poll(2)
    expect(outbox.added).toMatchObject([{ event: 'up', at: firstPoll, duration: 45 }])
  })

  it('is forgotten in a maintenance', async () => {
    const maintenanceOf = () => ({ reason: '', until: 0 })
    const { clock, outbox, poll } = await start({ all, maintenanceOf })
    outbox.known.set('survival', { version: '1', downAt: clock.wall() - 50_000 })
    await poll(2)
    expect(outbox.known.get('survival')).toStrictEqual({ version: '1' })
  })
})

it('is told only of its servers and groups', async () => {
  const scripts = { 'eu-1': up, 'eu-2': up, 'us-1': up }
  const { fleet, outbox, poll } = await start({ channel: { servers: ['eu-*'] }, scripts })
  await poll(2)
  for (const server of Object.keys(scripts)) fleet.scripts[server] = down
  await poll(2)
  expect(eventsOf(outbox)).toEqual(['eu-1 down', 'eu-2 down'])
  const grouped = await start({ channel: { groups: ['games'] }, scripts })
  await grouped.poll(2)
  for (const server of Object.keys(scripts)) grouped.fleet.scripts[server] = down
  await grouped.poll(2)
  expect(grouped.outbox.reads).toBe(0)
})

it('is told of the servers of its groups', async () => {
  const { fleet, outbox, poll } = await start({ channel: { groups: ['ga*'] }, scripts: { one: up, two: up, three: up } })
  fleet.update([
    { name: 'one', group: 'games', sources: {} },
    { name: 'two', group: 'other', sources: {} },
    { name: 'three', sources: {} },
  ])
  await poll(2)
  for (const server of ['one', 'two', 'three']) fleet.scripts[server] = down
  await poll(2)
  expect(outbox.added.map(({ server, event, group }) => [server, event, group])).toEqual([['one', 'down', 'games']])
})

it('sends at once what was stored', async () => {
  const { fleet, sent, poll, settle, clock } = await start()
  await poll(2)
  fleet.scripts.survival = down
  // The next time at which senders look for what others have added is later.
  await clock.advance(100)
  await fleet.pollAll()
  await settle()
  expect(sent).toHaveLength(1)
})

it('asks once at a time what was told, and stores one change after the other', async () => {
  const { fleet, outbox, poll, settle } = await start()
  const answerTold = holdUp(outbox, 'told')
  await poll(3)
  expect([outbox.reads, outbox.commits]).toEqual([0, []])
  answerTold()
  await settle()
  await poll(1)
  expect(outbox.reads).toBe(1)
  const answerCommit = holdUp(outbox, 'commit')
  fleet.scripts.survival = down
  await poll(3)
  fleet.scripts.survival = up
  await poll(2)
  answerCommit()
  await settle()
  expect(eventsOf(outbox)).toEqual(['survival down'])
  await poll(1)
  answerCommit()
  await settle()
  expect(eventsOf(outbox)).toEqual(['survival down', 'survival up'])
})

it('tells of an outage later that could not be stored', async () => {
  const { fleet, outbox, poll } = await start()
  await poll(2)
  outbox.isFailing = true
  fleet.scripts.survival = down
  await poll(2)
  outbox.isFailing = false
  await poll(3)
  expect(eventsOf(outbox)).toEqual(['survival down'])
})

it.each(['ends', 'is followed by a maintenance'])(
  'counts anew from the next outage if one %s while nothing can be stored',
  async (how) => {
    let isMaintained = false
    const maintenanceOf = () => (isMaintained ? { reason: '', until: 0 } : null)
    const { clock, fleet, outbox, poll } = await start({ all: { restartGrace: 60_000 }, maintenanceOf })
    await poll(2)
    outbox.isFailing = true
    fleet.scripts.survival = down
    await poll()
    if (how === 'ends') fleet.scripts.survival = up
    else isMaintained = true
    await poll(20)
    fleet.scripts.survival = down
    isMaintained = false
    outbox.isFailing = false
    await poll(2)
    expect(outbox.added).toEqual([])
    expect(outbox.known.get('survival')).toStrictEqual({ downAt: clock.wall() - 5_000 })
  },
)

it('stores nothing of a server that is not known yet', async () => {
  const { outbox, poll } = await start({ scripts: { survival: {} } })
  await poll(3)
  expect(outbox.commits).toEqual([])
})

it('is told nothing without events', async () => {
  const { fleet, outbox, poll } = await start({ channel: { events: [] } })
  await poll(2)
  fleet.scripts.survival = down
  await poll(2)
  expect([outbox.reads, outbox.commits]).toEqual([0, []])
})

it.each<[string, Script, readonly string[]]>([
  ['after it, that a server went down in it', up, ['survival down', 'survival up']],
  ['of a server that was down at the start only that it is up', down, ['survival up']],
])('tells nothing during maintenance in which the service starts; %s', async (_, atStart, expected) => {
  let isMaintained = true
  const maintenanceOf = () => (isMaintained ? { reason: '', until: 0 } : null)
  const { fleet, outbox, poll } = await start({ maintenanceOf, scripts: { survival: atStart } })
  await poll(2)
  fleet.scripts.survival = down
  await poll(2)
  expect(outbox.added).toEqual([])
  isMaintained = false
  await poll(2)
  fleet.scripts.survival = up
  await poll(2)
  expect(eventsOf(outbox)).toEqual(expected)
})

it('leaves a server to the replica that polls it, and reads what that one told', async () => {
  let isHere = false
  const { fleet, outbox, poll } = await start({ isPolledHere: () => isHere })
  await poll(2)
  fleet.scripts.survival = down
  await poll(2)
  expect([outbox.reads, outbox.commits]).toEqual([0, []])
  isHere = true
  await poll(2)
  expect(outbox.reads).toBe(1)
  isHere = false
  await poll(1)
  isHere = true
  await poll(1)
  expect(outbox.reads).toBe(2)
})

it('reads again what was told if another replica was first', async () => {
  const { fleet, outbox, poll } = await start()
  await poll(2)
  outbox.isTaken = true
  fleet.scripts.survival = down
  await poll(2)
  expect(outbox.added).toEqual([])
  const reads = outbox.reads
  outbox.isTaken = false
  await poll(2)
  expect(outbox.reads).toBeGreaterThan(reads)
  expect(eventsOf(outbox)).toEqual(['survival down'])
})

it('tells nothing of a poll that is older than what another replica has told', async () => {
  const { fleet, outbox, clock, poll, settle } = await start({ scripts: { survival: down } })
  const answer = holdUp(outbox, 'told')
  await poll(1)
  outbox.known.set('survival', { toldAt: clock.wall() + 1 })
  answer()
  await settle()
  fleet.scripts.survival = up
  await poll(2)
  expect(outbox.added).toEqual([])
  fleet.scripts.survival = down
  await poll(1)
  expect(eventsOf(outbox)).toEqual(['survival down'])
})

it('tries again at the next poll if the outbox cannot be read', async () => {
  const { fleet, outbox, poll } = await start()
  outbox.isFailing = true
  await poll(2)
  expect(outbox.reads).toBe(2)
  outbox.isFailing = false
  await poll(1)
  fleet.scripts.survival = down
  await poll(2)
  expect(eventsOf(outbox)).toEqual(['survival down'])
})

it('forgets a server that was removed', async () => {
  const { fleet, outbox, poll, settle } = await start({ scripts: { survival: up, creative: up } })
  await poll(2)
  fleet.update([{ name: 'creative', sources: {} }])
  await settle()
  expect(outbox.commits.at(-1)).toEqual({ server: 'survival', before: {}, events: [] })
  expect(outbox.known.has('creative')).toBe(true)
})

it('is no outage while a server is asleep', async () => {
  const { fleet, outbox, poll } = await start()
  await poll(2)
  fleet.scripts.survival = { status: new SourceError('asleep', 'a proxy answers') }
  await poll(4)
  expect(outbox.added).toEqual([])
})

it.each([
  ['running', []],
  ['failed', ['survival down']],
] as const)('is an outage while the server is down unless the upgrade of its world is running: %s', async (state, events) => {
  const clock = manualClock()
  const fleet = fakeFleet({ survival: { ...up } }, clock)
  const worldUpgrade = { value: { state, progress: 0.5 }, source: 'management' } as const
  const { outbox, settle } = await start({
    ...{ clock },
    // Its state is pushed while the server starts, before it can be reached.
    fleet: {
      ...{ settingsOf: fleet.settingsOf, onChange: fleet.onChange },
      subscribe: (listener: (snapshot: ServerSnapshot) => void) =>
        fleet.subscribe((snapshot) =>
          listener(snapshot.up === false ? { ...snapshot, fields: { ...snapshot.fields, worldUpgrade } } : snapshot),
        ),
    } as Fleet,
  })
  for (const script of [up, down, down]) {
    await clock.advance(5_000)
    fleet.scripts.survival = script
    await fleet.pollAll()
    await settle()
  }
  fleet.close()
  expect(eventsOf(outbox)).toEqual(events)
})

it('counts polls, not snapshots, before it tells', async () => {
  const { fleet, outbox, poll, clock, settle } = await start({ channel: { after: 4 } })
  await poll(5)
  fleet.scripts.survival = down
  await poll(3)
  // Values that expire are published too.
  await clock.advance(14_000)
  await settle()
  expect(outbox.added).toEqual([])
  await poll(1)
  expect(eventsOf(outbox)).toEqual(['survival down'])
})

it('does not tell of failing sources while the server is down', async () => {
  const { fleet, outbox, poll } = await start({ scripts: { survival: { ...up, rcon: { tickRate: 20 } } } })
  await poll(2)
  fleet.scripts.survival = { ...down, rcon: new SourceError('refused', 'no') }
  await poll(20)
  expect(eventsOf(outbox)).toEqual(['survival down'])
})

it('tells of a source that fails while the server is up', async () => {
  const working: Script = { ...up, rcon: { tickRate: 20 }, query: {} }
  const { fleet, outbox, poll } = await start({ scripts: { survival: { ...working }, creative: { ...working } } })
  await poll(2)
  fleet.scripts.survival = { ...up, rcon: new SourceError('refused', 'no') }
  await poll(20)
  expect(outbox.added).toMatchObject([{ event: 'trouble', server: 'survival', error: 'source rcon fails (refused)' }])
  const timeout = new SourceError('timeout', 'no')
  fleet.scripts.creative = { ...up, rcon: timeout, query: new SourceError('refused', 'no') }
  await poll(20)
  expect(outbox.added[1]).toMatchObject({ error: 'source rcon fails (timeout), source query fails (refused)' })
})

it('tells once of a list of servers that cannot be read, and again after it could', async () => {
  let state: 'ok' | 'failed' = 'failed'
  const discovery = {
    status: () => [
      { provider: 'http_sd', name: 'games', state, error: 'refused' },
      { provider: 'file_sd', name: 'other', state: 'ok' },
    ],
  } as unknown as DiscoveryView
  const { clock, outbox, poll, settle, close } = await start({ discovery })
  const begun = clock.wall()
  await poll(11)
  expect(outbox.added).toEqual([])
  await poll(1)
  expect(outbox.added).toHaveLength(1)
  await poll(20)
  expect(outbox.added).toMatchObject([
    {
      ...{ event: 'trouble', server: null, group: null, duration: null, state: null, at: begun },
      error: 'the list of servers http_sd games cannot be read: refused',
    },
  ])
  expect(new Set(outbox.commits.map(({ server }) => server))).toEqual(
    new Set(['survival', 'list http_sd games', 'list file_sd other']),
  )
  state = 'ok'
  await poll(2)
  state = 'failed'
  await poll(14)
  expect(outbox.added).toHaveLength(2)
  state = 'ok'
  await poll(2)
  state = 'failed'
  await poll(2)
  await close()
  await clock.advance(600_000)
  await settle()
  expect([outbox.isClosed, outbox.added.length]).toEqual([true, 2])
})

it.each([
  ['ok', 'failed'],
  ['failed', 'ok'],
])('tells of one of two lists with the same name that cannot be read: %s, %s', async (...states) => {
  const discovery = {
    status: () => states.map((state) => ({ provider: 'file_sd', name: 'servers.json', state, error: 'refused' })),
  } as unknown as DiscoveryView
  const { outbox, poll } = await start({ discovery })
  await poll(40)
  expect(outbox.added).toHaveLength(1)
})

it('tells no trouble to a channel that does not want it, or in quiet hours', async () => {
  const discovery = {
    status: () => [{ provider: 'http_sd', name: 'games', state: 'failed', error: 'refused' }],
  } as unknown as DiscoveryView
  const other = await start({ discovery, channel: { events: ['down'] } })
  await other.poll(20)
  expect(other.outbox.added).toEqual([])
  const quietHours = { from: 0, to: 0, timezone: 'UTC', except: [] }
  const quiet = await start({ discovery, all: { quietHours: { ...quietHours, to: 24 * 60 - 1 } } })
  await quiet.poll(20)
  expect(quiet.outbox.added).toEqual([])
  const except = await start({ discovery, all: { quietHours: { ...quietHours, to: 24 * 60 - 1, except: ['trouble'] } } })
  await except.poll(20)
  expect(except.outbox.added).toHaveLength(1)
})

it('tells of a list that cannot be read after the quiet hours, and after what has been told could not be stored', async () => {
  const discovery = {
    status: () => [{ provider: 'http_sd', name: 'games', state: 'failed', error: 'refused' }],
  } as unknown as DiscoveryView
  const { clock, outbox, poll } = await start({ discovery })
  const minute = Math.floor(clock.wall() / 60_000) % 1_440
  const quiet = await start({
    discovery,
    all: { quietHours: { from: minute, to: (minute + 5) % 1_440, timezone: 'UTC', except: [] } },
  })
  await quiet.poll(40)
  expect(quiet.outbox.added).toEqual([])
  await quiet.poll(40)
  expect(quiet.outbox.added).toHaveLength(1)
  outbox.isFailing = true
  await poll(20)
  outbox.isFailing = false
  await poll(20)
  expect(outbox.added).toHaveLength(1)
})

it('tells of a list that cannot be read whoever polls the servers, and during their maintenance', async () => {
  const discovery = {
    status: () => [{ provider: 'http_sd', name: 'games', state: 'failed', error: 'refused' }],
  } as unknown as DiscoveryView
  const maintenance = { reason: '', until: 0 }
  const { outbox, poll } = await start({ discovery, isPolledHere: () => false, maintenanceOf: () => maintenance })
  await poll(20)
  expect(outbox.added).toHaveLength(1)
})

it('tells at the first poll after a restart that a server is up again', async () => {
  const { clock, outbox, poll } = await start()
  outbox.known.set('survival', { down: clock.wall() - 60_000, toldAt: clock.wall() - 60_000 })
  await poll(1)
  expect(eventsOf(outbox)).toEqual(['survival up'])
})

it('tells once of a list that several replicas cannot read, and not again after a restart', async () => {
  const discovery = {
    status: () => [{ provider: 'http_sd', name: 'games', state: 'failed', error: 'refused' }],
  } as unknown as DiscoveryView
  const { outbox, poll, close } = await start({ discovery })
  const other = await start({ discovery, openOutbox: async () => outbox })
  for (let count = 0; count < 20; count++) for (const replica of [poll, other.poll]) await replica(1)
  expect(outbox.added).toHaveLength(1)
  await close()
  await other.close()
  const restarted = await start({ discovery, openOutbox: async () => outbox })
  await restarted.poll(20)
  expect(outbox.added).toHaveLength(1)
})

it('asks for the record of the server', async () => {
  const asked: string[] = []
  const { fleet, outbox, poll } = await start({
    channel: { events: ['record'] },
    recordOf(server) {
      asked.push(server)
      return 5
    },
  })
  await poll(2)
  fleet.scripts.survival = { status: { playersOnline: 9, playersMax: 20, version: '1.21.11' } }
  await poll(2)
  expect(asked).toContain('survival')
  expect(eventsOf(outbox)).toEqual(['survival record'])
})

it('tells of no record without a history', async () => {
  const { outbox, poll } = await start({ channel: { events: ['record', 'down'] } })
  await poll(3)
  expect(outbox.commits).toMatchObject([{ server: 'survival', events: [] }])
})

it('has a message with the state of its servers', async () => {
  const receiver = await startReceiver()
  const { poll, clock, settle } = await start({
    channel: { statusMessage: true, servers: ['survival'], values: { url: receiver.url } },
    scripts: { survival: up, other: up },
  })
  await poll(1)
  await clock.advance(1_000)
  await settle()
  await until(() => receiver.requests.length === 1)
  const { embeds } = receiver.requests[0]!.json
  expect(embeds).toMatchObject([{ title: '🟢 survival', description: 'Players: 3 / 20' }])
})

it('counts what was dropped, and says so', async () => {
  const { outbox, notifier, clock } = await start()
  outbox.dropped = 7
  expect(describeDropped(7, clock.wall())).toMatchObject({
    ...{ event: 'trouble', server: null, at: clock.wall() },
    error: '7 more notifications were dropped because too many were waiting',
  })
  expect(notifier.metrics()).toMatchObject([{ dropped: 7 }])
})

it('sends what another replica has added', async () => {
  const { outbox, sent, clock, settle } = await start()
  outbox.added.push(testNotification({ text: 'of another one' }))
  await clock.advance(2_000)
  await settle()
  await clock.advance(2_000)
  await settle()
  expect(sent).toEqual(['of another one'])
})

it('waits a second for what is being sent when it closes', async () => {
  let answer = () => {}
  const type = {
    ...{ type: 'test', joins: false, keys: {} },
    send: () =>
      new Promise<void>((resolve) => {
        answer = resolve
      }),
  }
  for (const isAnswered of [true, false]) {
    const { outbox, clock, settle, close } = await start({ channel: { type } })
    outbox.added.push(testNotification())
    await clock.advance(2_000)
    await settle()
    const closed = close()
    await clock.advance(999)
    await settle()
    expect(outbox.isClosed).toBe(false)
    if (isAnswered) answer()
    else await clock.advance(1)
    await closed
    expect([outbox.isClosed, outbox.length]).toEqual([true, isAnswered ? 0 : 1])
  }
})

it('has the problem of the last attempt in its metrics', async () => {
  const { outbox, clock, settle, notifier } = await start({
    channel: {
      type: {
        ...{ type: 'test', joins: false, keys: {} },
        send: () => Promise.reject(new Error('no route')),
      },
    },
  })
  outbox.added.push(testNotification())
  await clock.advance(2_000)
  await settle()
  expect(notifier.metrics()).toEqual([{ channel: 'ops', sent: 0, failed: 0, dropped: 0, waiting: 1, problem: 'no route' }])
})
