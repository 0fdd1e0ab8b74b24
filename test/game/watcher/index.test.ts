import { describe, expect, it, vi } from 'vitest'
import { SourceError } from '../../../src/game/errors.ts'
import type { SourceName } from '../../../src/game/sources/names.ts'
import type { Reading, Source, SourceSet } from '../../../src/game/sources/source.ts'
import { SourceWatcher, type Watcher } from '../../../src/game/watcher/index.ts'
import { silentLog } from '../../../src/util/log.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { refused, scriptedSource } from '../../helpers/scripted-source.ts'

const settings = { interval: 5000, timeout: 3000, staleAfter: 15_000 }
const players = (...names: string[]) => ({ players: names.map((name) => ({ name })), complete: true })

function watch(
  clock: ReturnType<typeof manualClock>,
  list: () => readonly Source[],
  more: Partial<SourceSet> = {},
  random = () => 0,
  poll = settings,
) {
  let push: (reading: Reading) => void = () => {}
  let requestPoll: (source: SourceName, at: number) => void = () => {}
  const log = { ...silentLog, warn: vi.fn(), error: vi.fn() }
  const watcher = new SourceWatcher({
    server: 'Server',
    settings: poll,
    clock,
    log,
    random,
    sources(pushed, requested) {
      push = pushed
      requestPoll = requested
      return { list, close: () => list().forEach((source) => void source.close()), ...more }
    },
  })
  return {
    watcher,
    log,
    push: (reading: Reading) => push(reading),
    requestPoll: (source: SourceName, at: number) => requestPoll(source, at),
  }
}

const valuesOf = (watcher: Watcher) =>
  Object.fromEntries(Object.entries(watcher.snapshot().fields).map(([name, field]) => [name, field.value]))

describe('when it polls', () => {
  it('polls immediately, then on the interval from the start of each poll', async () => {
    const clock = manualClock(0)
    const status = scriptedSource(
      'status',
      clock,
      () => new Promise((resolve) => clock.after(800, () => resolve({ motd: 'Hi' }))),
    )
    const { watcher } = watch(clock, () => [status])
    watcher.start()
    await clock.advance(12_000)
    expect(status.polledAt).toEqual([0, 5000, 10_000])
    watcher.close()
  })

  it('shortens the pause by up to a tenth, never lengthens it', async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock)
    const { watcher } = watch(
      clock,
      () => [status],
      {},
      () => 0.5,
    )
    watcher.start()
    await clock.advance(10_000)
    expect(status.polledAt).toEqual([0, 4750, 9500])
    watcher.close()
  })

  it('never runs two polls concurrently: a requested poll joins the running one', async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, 'silent')
    const { watcher } = watch(clock, () => [status])
    const both = [watcher.poll(), watcher.poll()]
    await clock.advance(3100)
    const [first, second] = await Promise.all(both)
    expect(status.polledAt).toEqual([0])
    expect(first).toBe(second)
    watcher.close()
  })

  it('polls a server that is down at the interval, so that short outages do not look long', async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, refused)
    const { watcher } = watch(clock, () => [status])
    watcher.start()
    await clock.advance(200_000)
    const pauses = status.polledAt.slice(1).map((at, index) => at - status.polledAt[index]!)
    expect(new Set(pauses)).toEqual(new Set([settings.interval]))
    expect(watcher.snapshot().up).toBe(false)
    status.answer = { motd: 'Back' }
    await clock.advance(settings.interval)
    expect(watcher.snapshot().up).toBe(true)
    watcher.close()
  })

  it('refreshes the sources before each poll, and waits at most one timeout', async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, { motd: 'Hi' })
    let sources: readonly Source[] = []
    const refresh = vi.fn(async () => {
      sources = [status]
    })
    const { watcher } = watch(clock, () => sources, { refresh })
    expect((await watcher.poll()).fields.motd?.value).toBe('Hi')
    refresh.mockImplementation(() => new Promise(() => {}))
    const hung = watcher.poll()
    await clock.advance(3000)
    expect((await hung).polls).toEqual({ ok: 2 })
    sources = []
    refresh.mockImplementation(async () => {})
    expect((await watcher.poll()).fields).toEqual({})
    expect(watcher.snapshot().sources).toEqual([])
    watcher.close()
  })
})

it('does not poll if it is closed while the sources are refreshed', async () => {
  const clock = manualClock(0)
  const status = scriptedSource('status', clock, { motd: 'Hi' })
  let found = () => {}
  const refresh = () =>
    new Promise<void>((resolve) => {
      found = resolve
    })
  const { watcher } = watch(clock, () => [status], { refresh })
  const poll = watcher.poll()
  watcher.close()
  found()
  expect((await poll).fields).toEqual({})
  expect(status.polledAt).toEqual([])
  expect(clock.pending).toBe(0)
})

describe('a source that fails', () => {
  it('loses only its own fields once they are stale, and restores them', async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, { motd: 'Hi', playersOnline: 2 })
    const rcon = scriptedSource('rcon', clock, { tickRateTarget: 20, playersOnline: 3 })
    const { watcher } = watch(clock, () => [status, rcon])
    watcher.start()
    await clock.advance(1000)
    expect(valuesOf(watcher)).toEqual({ motd: 'Hi', playersOnline: 3, tickRateTarget: 20 })
    rcon.answer = new SourceError('closed', 'rcon.test:1: closed')
    await clock.advance(13_000)
    expect(valuesOf(watcher)).toEqual({ motd: 'Hi', playersOnline: 2, tickRateTarget: 20 })
    // A value becomes stale between two polls: after exactly 15 s.
    await clock.advance(1000)
    expect(valuesOf(watcher)).toEqual({ motd: 'Hi', playersOnline: 2 })
    expect(watcher.snapshot()).toMatchObject({
      up: true,
      sources: [{ state: 'ok' }, { state: 'failed', error: { code: 'closed' } }],
    })
    rcon.answer = { tickRateTarget: 20 }
    await clock.advance(5000)
    expect(valuesOf(watcher)).toEqual({ motd: 'Hi', playersOnline: 2, tickRateTarget: 20 })
    watcher.close()
  })

  it('times out at its deadline even if it ignores its signal, and does not delay the others', async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, { motd: 'Hi' })
    const rcon = scriptedSource('rcon', clock, 'silent')
    const { watcher } = watch(clock, () => [status, rcon])
    const poll = watcher.poll()
    await clock.advance(3100)
    const snapshot = await poll
    expect(snapshot.fields.motd?.value).toBe('Hi')
    expect(snapshot.sources[1]).toMatchObject({ state: 'failed', error: { code: 'timeout' } })
    watcher.close()
    expect(clock.pending).toBe(0)
  })

  it('delays neither the readings nor the next poll of the others, however long its deadline is', async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, { motd: 'Hi' })
    const query = scriptedSource('query', clock, 'silent')
    const { watcher } = watch(
      clock,
      () => [status, query],
      {},
      () => 0,
      { ...settings, interval: 500 },
    )
    watcher.start()
    await clock.advance(100)
    expect(watcher.snapshot()).toMatchObject({
      up: true,
      lastContact: { at: 0 },
      sources: [{ state: 'ok' }, { state: 'pending' }],
    })
    expect(valuesOf(watcher)).toEqual({ motd: 'Hi' })
    await clock.advance(3900)
    expect(status.polledAt).toEqual([0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000])
    expect(query.polledAt).toEqual([0, 3500])
    expect(watcher.snapshot().lastContact?.at).toBe(4000)
    status.answer = refused
    await clock.advance(600)
    expect(watcher.snapshot().up).toBe(false)
    watcher.close()
  })

  it('keeps all fields of a server that is down until the last contact is stale', async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, { motd: 'Hi' })
    const rcon = scriptedSource(
      'rcon',
      clock,
      () => new Promise((resolve) => clock.after(50, () => resolve({ tickRateTarget: 20 }))),
    )
    const { watcher } = watch(clock, () => [status, rcon])
    watcher.start()
    await clock.advance(1000)
    status.answer = refused
    rcon.answer = new SourceError('closed', 'rcon.test:1: closed')
    await clock.advance(14_049)
    expect(watcher.snapshot()).toMatchObject({ up: false, lastContact: { at: 50 } })
    expect(valuesOf(watcher)).toEqual({ motd: 'Hi', tickRateTarget: 20 })
    await clock.advance(1)
    expect(valuesOf(watcher)).toEqual({})
    watcher.close()
  })

  it('does not keep its values longer while a poll hangs', async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, { motd: 'Hi' })
    const { watcher } = watch(
      clock,
      () => [status],
      {},
      () => 0,
      { interval: 500, timeout: 20_000, staleAfter: 1500 },
    )
    watcher.start()
    await clock.advance(100)
    status.answer = 'silent'
    await clock.advance(1399)
    expect(valuesOf(watcher)).toEqual({ motd: 'Hi' })
    await clock.advance(1)
    expect(valuesOf(watcher)).toEqual({})
    watcher.close()
  })

  it('counts a failure once if it throws the same error while it waits for the next attempt', async () => {
    const clock = manualClock(0)
    const wrong = () => new SourceError('auth', 'rcon.test:1: wrong password')
    const rcon = scriptedSource('rcon', clock, wrong())
    const { watcher } = watch(clock, () => [rcon])
    const failedAt = async () => (await watcher.poll()).sources[0]?.lastError?.at
    const first = await failedAt()
    await clock.advance(5000)
    expect(await failedAt()).toBe(first)
    rcon.answer = wrong()
    expect(await failedAt()).toBe(clock.wall())
    watcher.close()
  })

  it('may still return its fields at the deadline', async () => {
    const clock = manualClock(0)
    const answer = (signal: AbortSignal) =>
      new Promise<{ tickRateTarget: number }>((resolve) =>
        signal.addEventListener('abort', () => resolve({ tickRateTarget: 20 })),
      )
    const { watcher } = watch(clock, () => [scriptedSource('rcon', clock, answer)])
    const poll = watcher.poll()
    await clock.advance(3000)
    expect((await poll).fields.tickRateTarget?.value).toBe(20)
    watcher.close()
  })

  it('is logged once per error code, not at every poll', async () => {
    const clock = manualClock(0)
    const rcon = scriptedSource('rcon', clock, new SourceError('auth', 'rcon.test:1: wrong password'))
    const { watcher, log } = watch(clock, () => [scriptedSource('status', clock), rcon])
    watcher.start()
    await clock.advance(60_000)
    expect(log.warn).toHaveBeenCalledTimes(1)
    watcher.close()
  })
})

describe('a pushed reading', () => {
  it('is published immediately, and overrides the polled reading', async () => {
    const clock = manualClock(0)
    const management = scriptedSource('management', clock, { motd: 'Hi', players: players('Alice') })
    const { watcher, push } = watch(clock, () => [management])
    await watcher.poll()
    const seen: unknown[] = []
    const end = watcher.subscribe((snapshot) => seen.push(snapshot.fields.players?.value))
    push({ source: 'management', at: clock.now(), fields: { players: players('Alice', 'Bob') } })
    expect(seen).toEqual([players('Alice', 'Bob')])
    expect(valuesOf(watcher)).toEqual({ motd: 'Hi', players: players('Alice', 'Bob') })
    expect(watcher.snapshot()).toMatchObject({ joins: 1, leaves: 0 })
    end()
    await watcher.poll()
    expect(valuesOf(watcher).players).toEqual(players('Alice'))
    expect(seen).toHaveLength(1)
    watcher.close()
  })

  it('waits up to 100 ms for the other sources during the first poll', async () => {
    const clock = manualClock(0)
    const list = [scriptedSource('status', clock, { motd: 'Hi' }), scriptedSource('management', clock)]
    const { watcher, push } = watch(clock, () => list)
    const seen: unknown[] = []
    watcher.subscribe(() => seen.push(valuesOf(watcher)))
    push({ source: 'management', at: clock.now(), fields: { players: players('Alice') } })
    await clock.advance(99)
    expect(seen).toEqual([])
    await clock.advance(1)
    expect(seen).toHaveLength(1)
    watcher.close()
  })

  it('does not refresh older values of a failing source', async () => {
    const clock = manualClock(0)
    const management = scriptedSource('management', clock, { motd: 'Hi' })
    const { watcher, push } = watch(clock, () => [management])
    await watcher.poll()
    management.answer = new SourceError('timeout', 'management.test:1: late')
    await clock.advance(10_000)
    await watcher.poll()
    push({ source: 'management', at: clock.now(), fields: { players: players('Bob') } })
    await clock.advance(5000)
    expect(valuesOf(watcher)).toEqual({ players: players('Bob') })
    await clock.advance(10_000)
    expect(valuesOf(watcher)).toEqual({})
    watcher.close()
  })

  it('reaches the other subscribers if one throws', async () => {
    const clock = manualClock(0)
    const { watcher, log } = watch(clock, () => [scriptedSource('status', clock)])
    const seen = vi.fn()
    watcher.subscribe(() => {
      throw new Error('a faulty listener')
    })
    watcher.subscribe(seen)
    await watcher.poll()
    expect(seen).toHaveBeenCalledTimes(1)
    expect(log.error).toHaveBeenCalledTimes(1)
    watcher.close()
  })
})

it('clears its timers and publishes nothing after it is closed, even during a poll', async () => {
  const clock = manualClock(0)
  const status = scriptedSource('status', clock, 'silent')
  const { watcher, push } = watch(clock, () => [status])
  const seen = vi.fn()
  watcher.subscribe(seen)
  watcher.start()
  await clock.advance(10)
  watcher.close()
  await clock.advance(0)
  push({ source: 'status', at: clock.now(), fields: { motd: 'late' } })
  expect(clock.pending).toBe(0)
  expect(status.closed).toBe(true)
  expect(seen).not.toHaveBeenCalled()
  expect(watcher.snapshot().fields).toEqual({})
})

describe('one deadline', () => {
  it('covers the whole poll, even if the directory hangs', async () => {
    const clock = manualClock(1)
    const untilAborted = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const status = scriptedSource('status', clock, untilAborted)
    const { watcher } = watch(clock, () => [status], { refresh: () => new Promise(() => {}) })
    const started = clock.now()
    let took: number | undefined
    const poll = watcher.poll().then(() => {
      took = clock.now() - started
    })
    await clock.advance(10_000)
    await poll
    expect(took).toBe(settings.timeout)
    watcher.close()
  })

  it('is cancelled with its source when that is no longer listed', async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, 'silent')
    let list: readonly Source[] = [status]
    const { watcher } = watch(
      clock,
      () => list,
      { refresh: async () => {} },
      () => 0,
      { ...settings, interval: 500 },
    )
    watcher.start()
    await clock.advance(100)
    list = [scriptedSource('query', clock, { motd: 'Hi' })]
    await clock.advance(500)
    expect(valuesOf(watcher)).toEqual({ motd: 'Hi' })
    expect(watcher.snapshot().sources).toMatchObject([{ source: 'query', state: 'ok' }])
    watcher.close()
    expect(clock.pending).toBe(0)
  })
})

describe('a server that was down', () => {
  const silentServer = async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, refused)
    const management = scriptedSource('management', clock, refused)
    const watched = watch(clock, () => [status, management])
    watched.watcher.start()
    // The next poll is 40 s after this one.
    await clock.advance(115_000)
    expect(watched.watcher.snapshot().up).toBe(false)
    return { clock, status, management, ...watched }
  }

  it('is up immediately when an event arrives, and is polled', async () => {
    const { clock, status, management, watcher, push } = await silentServer()
    const polls = status.polledAt.length
    status.answer = { motd: 'Hi' }
    management.answer = {}
    push({ source: 'management', at: clock.now(), fields: { players: players('Alice') } })
    expect(watcher.snapshot()).toMatchObject({ up: true, lastContact: { at: clock.now() } })
    // Polls are at least a second apart.
    await clock.advance(1_000)
    expect(status.polledAt).toHaveLength(polls + 1)
    expect(valuesOf(watcher)).toMatchObject({ motd: 'Hi' })
    await clock.advance(15_000)
    expect(status.polledAt).toHaveLength(polls + 4)
    watcher.close()
  })

  it('is up when a poll that a source requested reaches it, and all sources are polled', async () => {
    const { clock, status, management, watcher, requestPoll } = await silentServer()
    const polls = status.polledAt.length
    status.answer = { motd: 'Hi' }
    management.answer = { difficulty: 'hard' }
    requestPoll('management', clock.now() + 2_000)
    await clock.advance(1_999)
    expect(watcher.snapshot().up).toBe(false)
    await clock.advance(200)
    expect(watcher.snapshot().up).toBe(true)
    expect(status.polledAt).toHaveLength(polls + 1)
    expect(valuesOf(watcher)).toMatchObject({ motd: 'Hi', difficulty: 'hard' })
    watcher.close()
  })

  it('recovers without earlier fields, except those from its files', async () => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, { motd: 'Hi' })
    let activity = { answeredAt: 0, delayMs: 40 }
    const rcon = { ...scriptedSource('rcon', clock, { tickRate: 20 }), mainThread: () => activity }
    const directory = scriptedSource('directory', clock, { difficulty: 'hard' })
    const { watcher } = watch(
      clock,
      () => [status, rcon, directory],
      {},
      () => 0,
      { ...settings, staleAfter: 60_000 },
    )
    const pollRcon = vi.spyOn(rcon, 'poll')
    watcher.start()
    await clock.advance(1_000)
    expect(valuesOf(watcher)).toEqual({ motd: 'Hi', tickRate: 20, difficulty: 'hard' })
    expect(watcher.snapshot().mainThread).toEqual({ responsive: true, delay: 0.04 })
    status.answer = refused
    pollRcon.mockRejectedValue(new SourceError('refused', 'rcon.test:1: connection refused'))
    directory.answer = 'silent'
    await clock.advance(10_000)
    expect(watcher.snapshot().up).toBe(false)
    expect(valuesOf(watcher)).toEqual({ motd: 'Hi', tickRate: 20, difficulty: 'hard' })
    status.answer = { motd: 'Back' }
    await clock.advance(5_000)
    expect(watcher.snapshot().up).toBe(true)
    expect(valuesOf(watcher)).toEqual({ motd: 'Back', difficulty: 'hard' })
    expect(watcher.snapshot().mainThread).toBeUndefined()
    pollRcon.mockRestore()
    activity = { answeredAt: 20_000, delayMs: 50 }
    await clock.advance(5_000)
    expect(valuesOf(watcher)).toEqual({ motd: 'Back', tickRate: 20, difficulty: 'hard' })
    expect(watcher.snapshot().mainThread).toEqual({ responsive: true, delay: 0.05 })
    watcher.close()
  })

  it('is not polled endlessly if events arrive but polls fail', async () => {
    const { clock, status, watcher, push } = await silentServer()
    const polls = status.polledAt.length
    for (let event = 0; event < 100; event++) {
      push({ source: 'management', at: clock.now(), fields: {} })
      await clock.advance(50)
    }
    expect(status.polledAt.length - polls).toBeLessThanOrEqual(6)
    watcher.close()
  })
})

it('takes the players from a working source when a better one has failed, before that is stale', async () => {
  const clock = manualClock(0)
  const status = scriptedSource('status', clock, { playersOnline: 2 })
  const rcon = scriptedSource('rcon', clock, { playersOnline: 7, tickRateTarget: 20 })
  const { watcher } = watch(
    clock,
    () => [status, rcon],
    {},
    () => 0,
    { ...settings, staleAfter: 60_000 },
  )
  watcher.start()
  await clock.advance(1_000)
  expect(watcher.snapshot().fields.playersOnline).toMatchObject({ value: 7, source: 'rcon' })
  rcon.answer = new SourceError('closed', 'rcon.test:1: closed')
  await clock.advance(3 * settings.interval)
  expect(watcher.snapshot().fields.playersOnline).toMatchObject({ value: 2, source: 'status' })
  // Values that only RCON provides remain until they are stale.
  expect(watcher.snapshot().fields.tickRateTarget).toMatchObject({ value: 20, source: 'rcon' })
  watcher.close()
})

it('keeps the time at which each field was read', async () => {
  const clock = manualClock(0)
  const rcon: Source = {
    ...scriptedSource('rcon', clock),
    poll: async () => ({
      source: 'rcon',
      at: clock.now(),
      fields: { difficulty: 'hard', playersOnline: 3 },
      readAt: { difficulty: 0 },
    }),
  }
  const { watcher } = watch(clock, () => [rcon])
  watcher.start()
  await clock.advance(11_000)
  expect(valuesOf(watcher)).toEqual({ difficulty: 'hard', playersOnline: 3 })
  await clock.advance(4_500)
  expect(valuesOf(watcher)).toEqual({ playersOnline: 3 })
  watcher.close()
})

describe('a server that this machine could not ask', () => {
  const exhausted = new SourceError('exhausted', 'too many open files')

  it.each([
    ['up', { motd: 'Hi' }],
    ['down', refused],
  ])('stays %s until that is stale, and is then unknown', async (_state, answer) => {
    const clock = manualClock(0)
    const status = scriptedSource('status', clock, answer)
    const { watcher } = watch(clock, () => [status])
    watcher.start()
    await clock.advance(10_000)
    const { up, polls } = watcher.snapshot()
    expect(up).toBe(answer !== refused)
    status.answer = exhausted
    await clock.advance(settings.interval)
    expect(watcher.snapshot()).toMatchObject({ up, polls: { ...polls, exhausted: 1 } })
    await clock.advance(settings.interval + settings.timeout + settings.staleAfter)
    expect(watcher.snapshot().up).toBeUndefined()
    status.answer = { motd: 'Hi' }
    await clock.advance(settings.interval)
    expect(watcher.snapshot().up).toBe(true)
    watcher.close()
  })

  it('is unknown if that was its first poll', async () => {
    const clock = manualClock(0)
    const { watcher } = watch(clock, () => [scriptedSource('status', clock, exhausted)])
    await watcher.poll()
    expect(watcher.snapshot()).toMatchObject({ polls: { exhausted: 1 } })
    expect(watcher.snapshot().up).toBeUndefined()
    watcher.close()
  })
})
