import { describe, expect, it, onTestFinished } from 'vitest'
import { type DemoOptions, type DemoServer, demoSettings, startDemoServer } from '../../../src/demo/demo-server.ts'
import { SourceError } from '../../../src/game/errors.ts'
import { createFleet } from '../../../src/game/fleet.ts'
import type { GivenSources } from '../../../src/game/server-settings.ts'
import { createSources } from '../../../src/game/sources/create-sources.ts'
import { MainThreadTracker } from '../../../src/game/sources/main-thread-activity.ts'
import type { SourceName } from '../../../src/game/sources/names.ts'
import { judgeMainThread, mayStopTicking } from '../../../src/game/watcher/main-thread.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'
import { managementServer } from '../../helpers/management-server.ts'

describe('the main thread', () => {
  const options = { now: 20_000, interval: 5_000, staleAfter: 15_000 }
  it.each<[string, Parameters<typeof judgeMainThread>[0], ReturnType<typeof judgeMainThread>]>([
    ['is unknown if no source provides it', [], undefined],
    ['is unknown before the first answer', [{}], undefined],
    ['answers', [{ answeredAt: 19_000, delayMs: 40 }], { responsive: true, delay: 0.04 }],
    ['is unknown once its last answer is stale', [{ answeredAt: 4_000, delayMs: 40 }], undefined],
    [
      'is late, but not by more than three intervals',
      [{ answeredAt: 9_000, delayMs: 40, waitingSince: 10_000 }],
      { responsive: true, delay: 10 },
    ],
    [
      'does not answer for more than three intervals',
      [{ answeredAt: 4_000, delayMs: 40, waitingSince: 4_900 }],
      { responsive: false, delay: 15.1 },
    ],
    ['never answered', [{ waitingSince: 4_900 }], { responsive: false, delay: 15.1 }],
    ['is late by a limit of the source', [{ waitingSince: 17_900, lateAfterMs: 2_000 }], { responsive: false, delay: 2.1 }],
    [
      'is not late after exactly three intervals, or the limit of the source',
      [{ waitingSince: 5_000 }, { waitingSince: 18_000, lateAfterMs: 2_000 }],
      undefined,
    ],
    ['answered at the last moment', [{ answeredAt: 5_000, delayMs: 40 }], { responsive: true, delay: 0.04 }],
    ['answered without a measured delay', [{ answeredAt: 19_000 }], { responsive: true }],
    [
      'has the delay of its newest answer',
      [
        { answeredAt: 17_000, delayMs: 50 },
        { answeredAt: 19_500 },
        { answeredAt: 19_000, delayMs: 40 },
        { answeredAt: 1_000, delayMs: 9 },
      ],
      { responsive: true, delay: 0.04 },
    ],
    [
      'has no delay of an answer that is stale',
      [{ answeredAt: 19_000 }, { answeredAt: 1_000, delayMs: 9 }],
      { responsive: true },
    ],
    [
      'answered another source before that',
      [{ waitingSince: 4_900 }, { answeredAt: 4_800, delayMs: 40 }],
      { responsive: false, delay: 15.1 },
    ],
    ['answers another source at the same time', [{ waitingSince: 4_900 }, { answeredAt: 4_900, delayMs: 40 }], undefined],
    [
      'answers another source after that',
      [{ waitingSince: 4_900 }, { answeredAt: 19_000, delayMs: 40 }],
      { responsive: true, delay: 0.04 },
    ],
  ])('%s', (_, activities, expected) => {
    expect(judgeMainThread(activities, options)).toEqual(expected)
  })

  it.each<[string, Parameters<typeof judgeMainThread>[0], ReturnType<typeof judgeMainThread>]>([
    ['that answered before an outage is unknown', [{ answeredAt: 16_000, delayMs: 40 }], undefined],
    ['that hung before an outage is unknown', [{ waitingSince: 4_900, lastSentAt: 15_000 }], undefined],
    [
      'that hung before an outage and still does not answer is late from then on',
      [{ waitingSince: 4_900, lastSentAt: 16_100, lateAfterMs: 2_000 }],
      { responsive: false, delay: 4 },
    ],
    ['that was last asked at its end is unknown', [{ waitingSince: 4_900, lastSentAt: 16_000, lateAfterMs: 2_000 }], undefined],
    ['that answered at its end is unknown', [{ answeredAt: 16_000, delayMs: 40 }], undefined],
    ['that answered since is known', [{ answeredAt: 16_100, delayMs: 40 }], { responsive: true, delay: 0.04 }],
  ])('%s', (_, activities, expected) => {
    expect(judgeMainThread(activities, { ...options, since: 16_000 })).toEqual(expected)
  })
})

describe('a source that shows ticks instead of replies', () => {
  const options = { now: 20_000, interval: 5_000, staleAfter: 15_000 }
  const waiting = { answeredAt: 10_000, waitingSince: 10_000, lastSentAt: 20_000, lateAfterMs: 1_100, showsTicks: true } as const

  it('shows a hung server, unless its ticks may be stopped on purpose, or its main thread answers another source', () => {
    expect(judgeMainThread([waiting], options)).toEqual({ responsive: false, delay: 10 })
    expect(judgeMainThread([waiting], { ...options, mayStopTicking: true })).toEqual({ responsive: true })
    expect(judgeMainThread([waiting, { answeredAt: 19_000, delayMs: 40 }], options)).toEqual({ responsive: true, delay: 0.04 })
  })

  it.each<[boolean, Parameters<typeof mayStopTicking>[0]]>([
    [false, {}],
    [false, { playersOnline: { value: 1, source: 'status' } }],
    [true, { playersOnline: { value: 0, source: 'status' } }],
    [false, { playersOnline: { value: 0, source: 'status' }, pauseWhenEmpty: { value: -1, source: 'directory' } }],
    [true, { playersOnline: { value: 0, source: 'status' }, pauseWhenEmpty: { value: 60, source: 'directory' } }],
    [false, { playersOnline: { value: 0, source: 'status' }, pauseWhenEmpty: { value: 0, source: 'directory' } }],
    [true, { playersOnline: { value: 1, source: 'status' }, tickPaused: { value: true, source: 'rcon' } }],
    [false, { playersOnline: { value: 1, source: 'status' }, tickPaused: { value: false, source: 'rcon' } }],
    [true, { playersOnline: { value: 1, source: 'status' }, tickFrozen: { value: true, source: 'rcon' } }],
  ])('ticks may be stopped on purpose: %s', (expected, fields) => {
    expect(mayStopTicking(fields)).toBe(expected)
  })
})

describe('the requests of a source', () => {
  const timeout = new SourceError('timeout', 'late')

  it('are pending since the first unanswered one, also while the source throws the same error again', () => {
    const tracker = new MainThreadTracker()
    tracker.answered(1_000, 1_040)
    tracker.unanswered(2_000, timeout)
    tracker.failed(timeout)
    const again = new SourceError('timeout', 'late again')
    tracker.unanswered(6_000, again)
    tracker.failed(again)
    expect(tracker.activity()).toEqual({ answeredAt: 1_040, delayMs: 40, waitingSince: 2_000, lastSentAt: 6_000 })
    tracker.answered(9_000, 9_500)
    expect(tracker.activity()).toEqual({ answeredAt: 9_500, delayMs: 500 })
  })

  it('are dropped once the source fails with another error, or an event arrives after them', () => {
    const tracker = new MainThreadTracker()
    tracker.unanswered(2_000, timeout)
    tracker.failed(new SourceError('refused', 'down'))
    expect(tracker.activity()).toEqual({})
    tracker.receivedEvent(3_000)
    tracker.unanswered(2_500, timeout)
    expect(tracker.activity()).toEqual({ answeredAt: 3_000 })
  })
})

const poll = { interval: 200, timeout: 150, staleAfter: 600 }

function watch(sources: GivenSources) {
  const servers = [{ name: 'a', sources }]
  const fleet = createFleet({ servers, poll, clock: systemClock, log: silentLog, createSources })
  onTestFinished(() => fleet.close())
  fleet.start()
  return () => fleet.watchers[0]!.snapshot()
}

async function startDemo(options: DemoOptions): Promise<DemoServer> {
  const demo = await startDemoServer(options)
  onTestFinished(demo.close)
  return demo
}

/** Some of the sources of the demo server. */
function only(demo: DemoServer, ...names: readonly SourceName[]): GivenSources {
  const { sources } = demoSettings(demo, 'a')
  return Object.fromEntries(Object.entries(sources).filter(([name]) => names.some((one) => one === name)))
}

describe.each(['rcon', 'management'] as const)('by %s', (name) => {
  it('a server that ticks is responsive', async () => {
    const demo = await startDemo({ scenario: 'steady' })
    const snapshot = watch(only(demo, 'status', name))
    // Its first answer may be late on a busy machine.
    const isShort = (delay: number) => delay < 1
    await expect.poll(() => snapshot().mainThread).toMatchObject({ responsive: true, delay: expect.toSatisfy(isShort) })
  })

  it('a hung server is not responsive, and up', async () => {
    const demo = await startDemo({ scenario: 'hung' })
    const snapshot = watch(only(demo, 'status', name))
    await expect.poll(snapshot).toMatchObject({ up: true, mainThread: { responsive: false } })
    const before = snapshot().mainThread?.delay ?? 0
    await expect.poll(() => snapshot().mainThread?.delay).toBeGreaterThan(before + 0.3)
    expect(snapshot().mainThread?.responsive).toBe(false)
  })

  it('a server that is down is not hung', async () => {
    const demo = await startDemo({ scenario: 'hung' })
    const snapshot = watch(only(demo, 'status', name))
    await expect.poll(() => snapshot().mainThread?.responsive).toBe(false)
    await demo.close()
    await expect.poll(() => snapshot().up).toBe(false)
    expect(snapshot().mainThread).toBeUndefined()
  })
})

it('is unknown if only the status is read', async () => {
  const demo = await startDemo({ scenario: 'hung' })
  const snapshot = watch(only(demo, 'status'))
  await expect.poll(() => snapshot().up).toBe(true)
  expect(snapshot().mainThread).toBeUndefined()
})

it('is responsive while heartbeats come, although requests are not answered', async () => {
  const demo = await startDemo({ scenario: 'steady' })
  const server = await managementServer()
  onTestFinished(server.close)
  const snapshot = watch({ ...only(demo, 'status'), management: { url: server.url, secret: server.secret } })
  await expect.poll(() => snapshot().mainThread?.responsive).toBe(true)
  const heartbeat = setInterval(() => server.notify('minecraft:notification/server/status', [{ status: { started: true } }]), 50)
  onTestFinished(() => clearInterval(heartbeat))
  server.results = Object.fromEntries(Object.keys(server.results).map((method) => [method, 'silent']))
  const calls = server.called.length
  await expect.poll(() => server.called.length).toBeGreaterThan(calls + 8 * 6)
  // A heartbeat may have to be read first, if this process was busy.
  await expect.poll(() => snapshot().mainThread).toMatchObject({ responsive: true })
  clearInterval(heartbeat)
  await expect.poll(() => snapshot().mainThread?.responsive).toBe(false)
})
