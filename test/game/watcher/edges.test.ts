import { describe, expect, it, vi } from 'vitest'
import { SourceError } from '../../../src/game/errors.ts'
import type { ServerSnapshot } from '../../../src/game/snapshot.ts'
import type { Reading, Source, SourceContext } from '../../../src/game/sources/source.ts'
import { SourceWatcher, type WatcherOptions } from '../../../src/game/watcher/index.ts'
import { silentLog } from '../../../src/util/log.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { refused, scriptedSource } from '../../helpers/scripted-source.ts'

const settings = { interval: 5_000, timeout: 3_000, staleAfter: 15_000 }

function watch(
  names: readonly Source['name'][],
  options: Partial<WatcherOptions> & { readonly refresh?: () => Promise<void> } = {},
) {
  const clock = manualClock(0)
  const sources = names.map((name) => scriptedSource(name, clock))
  let list: readonly Source[] = sources
  let context: Pick<SourceContext, 'push' | 'requestPoll'> = { push() {} }
  const log = { ...silentLog, error: vi.fn() }
  const close = vi.fn()
  const watcher = new SourceWatcher({
    ...{ server: 'Server', settings, clock, log, random: () => 0 },
    sources(push, requestPoll) {
      context = { push, requestPoll }
      return { list: () => list, close, ...(options.refresh && { refresh: options.refresh }) }
    },
    ...options,
  })
  return {
    ...{ watcher, clock, sources, log, close },
    change(next: readonly Source[]) {
      list = next
    },
    push: (reading: Partial<Reading> & Pick<Reading, 'source'>) => context.push({ at: clock.now(), fields: {}, ...reading }),
    request: (source: Source['name'], at = clock.now()) => context.requestPoll?.(source, at),
  }
}
/** Answers after so many milliseconds. */
const answerAfter =
  (clock: ReturnType<typeof manualClock>, ms: number, fields = {}) =>
  () =>
    new Promise<object>((resolve) => clock.after(ms, () => resolve(fields)))

describe('a watcher', () => {
  it('has its server and settings, and polls as its options say', async () => {
    const limited: number[] = []
    const started: number[] = []
    const { watcher, clock, sources } = watch(['status'], {
      align: (at) => Math.ceil(at / 1_000) * 1_000 + 7,
      onPollStart: (delayMs) => started.push(delayMs),
      limit: async (task) => {
        limited.push(clock.now())
        await new Promise<void>((resolve) => clock.after(3, resolve))
        return task()
      },
    })
    expect([watcher.server, watcher.settings]).toEqual(['Server', settings])
    watcher.start()
    await clock.advance(7_000)
    expect(limited).toEqual([7, 6_007])
    expect(started).toEqual([3, 3])
    expect(sources[0]?.polledAt).toEqual([10, 6_010])
    watcher.close()
  })

  it('closes its sources once', () => {
    const { watcher, close } = watch(['status'])
    watcher.close()
    watcher.close()
    expect(close).toHaveBeenCalledTimes(1)
  })

  it('logs that its sources cannot be refreshed, and polls those that it knows', async () => {
    const error = new Error('no folder')
    const { watcher, log, sources } = watch(['status'], { refresh: () => Promise.reject(error) })
    await watcher.poll()
    expect(log.error.mock.calls).toEqual([[{ err: error, server: 'Server' }, 'Server: cannot refresh its sources']])
    expect(sources[0]?.polledAt).toHaveLength(1)
    watcher.close()
  })

  it('does not take a source that is gone for a recovery, after which it would poll those that failed', async () => {
    const { watcher, clock, sources, change } = watch(['status', 'rcon'], {
      ...{ refresh: async () => {}, settings: { ...settings, timeout: 6_000 } },
    })
    const [status, rcon] = sources
    status!.answer = 'silent'
    rcon!.answer = refused
    watcher.start()
    await clock.advance(1_000)
    change([rcon!])
    await clock.advance(5_000)
    expect(rcon!.polledAt).toEqual([0, 5_000])
    watcher.close()
  })

  it('has the newest poll joined, also after an earlier one has ended', async () => {
    const { watcher, clock, sources } = watch(['status', 'rcon'], { settings: { ...settings, timeout: 6_000 } })
    const [status, rcon] = sources
    status!.answer = answerAfter(clock, 5_500)
    rcon!.answer = answerAfter(clock, 3_000)
    watcher.start()
    await clock.advance(6_000)
    const joined = watcher.poll()
    await clock.advance(2_000)
    await joined
    expect([status!.polledAt, rcon!.polledAt]).toEqual([[0], [0, 5_000]])
    watcher.close()
  })
})

describe('the requests of sources', () => {
  it('are ignored before the start', async () => {
    const { watcher, clock, sources, request } = watch(['status', 'rcon'])
    request('rcon')
    await clock.advance(2_000)
    expect(sources[1]?.polledAt).toEqual([])
    watcher.close()
  })

  it('poll one source, also after its running poll, but none that is not listed or after the end', async () => {
    const { watcher, clock, sources, request, change } = watch(['status', 'rcon', 'query'])
    const [status, rcon, query] = sources
    rcon!.answer = answerAfter(clock, 2_000)
    watcher.start()
    await clock.advance(500)
    request('rcon')
    await clock.advance(2_400)
    expect(rcon!.polledAt).toEqual([0, 2_500])
    expect(status!.polledAt).toEqual([0])
    request('query', 3_000)
    change([status!, rcon!])
    await clock.advance(600)
    change([status!, rcon!, query!])
    await clock.advance(900)
    expect(query!.polledAt).toEqual([0])
    request('rcon', 4_900)
    watcher.close()
    await clock.advance(5_000)
    expect(rcon!.polledAt).toEqual([0, 2_500])
    expect(clock.pending).toBe(0)
  })

  it('publish what they read', async () => {
    const { watcher, clock, sources, request } = watch(['status', 'rcon'])
    watcher.start()
    await clock.advance(100)
    const seen: ServerSnapshot[] = []
    watcher.subscribe((snapshot) => seen.push(snapshot))
    sources[1]!.answer = { difficulty: 'hard' }
    request('rcon', 2_000)
    await clock.advance(4_500)
    expect(seen.map(({ fields }) => fields.difficulty?.value)).toEqual(['hard'])
    expect(sources.map(({ polledAt }) => polledAt)).toEqual([[0], [0, 2_000]])
    watcher.close()
  })
})

describe('what arrives', () => {
  it('counts for the source that sent it, unless that is not listed or the watcher is closed', async () => {
    const { watcher, clock, push, change, sources } = watch(['status', 'management'])
    await watcher.poll()
    push({ source: 'management', fields: { difficulty: 'hard' } })
    expect(watcher.snapshot().fields.difficulty).toMatchObject({ value: 'hard', source: 'management' })
    push({ source: 'query', fields: { difficulty: 'easy' } })
    expect(watcher.snapshot().fields.difficulty?.value).toBe('hard')
    change(sources.slice(0, 1))
    push({ source: 'management', fields: { difficulty: 'easy' } })
    expect(watcher.snapshot().fields.difficulty?.value).not.toBe('easy')
    watcher.close()
    push({ source: 'status', fields: { difficulty: 'peaceful' } })
    expect(watcher.snapshot().fields.difficulty?.value).not.toBe('peaceful')
    expect(clock.pending).toBe(0)
  })

  it('shows that a server is up again, and says so once', async () => {
    const onRecovery = vi.fn()
    const { watcher, clock, push, sources } = watch(['status', 'management'], { onRecovery })
    for (const source of sources) source.answer = refused
    watcher.start()
    await clock.advance(12_000)
    expect(watcher.snapshot().up).toBe(false)
    push({ source: 'query' })
    push({ source: 'management', isStarting: true })
    expect([watcher.snapshot().up, onRecovery.mock.calls.length]).toEqual([false, 0])
    push({ source: 'management' })
    expect([watcher.snapshot().up, onRecovery.mock.calls.length]).toEqual([true, 1])
    push({ source: 'management' })
    expect(onRecovery).toHaveBeenCalledTimes(1)
    watcher.close()
  })

  it('has the time that each poll took', async () => {
    const { watcher, clock, sources } = watch(['status', 'rcon'])
    sources[0]!.answer = answerAfter(clock, 250)
    sources[1]!.answer = () => new Promise((_, reject) => clock.after(500, () => reject(refused)))
    await clock.advance(10_000)
    const poll = watcher.poll()
    await clock.advance(1_000)
    const { pollDuration, sources: states, lastPollAt } = await poll
    expect(states).toMatchObject([
      { state: 'ok', duration: 0.25 },
      { state: 'failed', duration: 0.5 },
    ])
    expect([pollDuration, lastPollAt]).toEqual([0.5, 1_700_000_000_000 + 10_500])
    watcher.close()
  })
})

it('does not tell of a source that is removed while it is polled', async () => {
  const warn = vi.fn()
  const { watcher, clock, sources, change } = watch(['status', 'rcon'], {
    ...{ refresh: async () => {}, log: { ...silentLog, warn }, settings: { ...settings, timeout: 60_000 } },
  })
  sources[1]!.answer = 'silent'
  watcher.start()
  await clock.advance(1_000)
  change(sources.slice(0, 1))
  await clock.advance(5_000)
  expect(watcher.snapshot()).toMatchObject({ up: true, sources: [{ source: 'status', state: 'ok' }] })
  expect(warn).not.toHaveBeenCalled()
  watcher.close()
})

it('has no poll that has ended while all sources are polled', async () => {
  const { watcher, clock, sources } = watch(['status'], { settings: { ...settings, timeout: 60_000 } })
  sources[0]!.answer = 'silent'
  watcher.start()
  await clock.advance(12_000)
  expect(watcher.snapshot()).not.toHaveProperty('lastPollAt')
  watcher.close()
})

describe('a server that is reached again', () => {
  it('has its failed sources polled once more, when it is watched', async () => {
    const onRecovery = vi.fn()
    const { watcher, clock, sources } = watch(['status', 'rcon', 'query'], { onRecovery })
    const [status, rcon, query] = sources
    status!.answer = refused
    rcon!.answer = new SourceError('closed', 'closed')
    watcher.start()
    await clock.advance(1_000)
    // Query answers, so that the server is up.
    expect(watcher.snapshot().up).toBe(true)
    query!.answer = refused
    await clock.advance(5_000)
    expect(watcher.snapshot().up).toBe(false)
    query!.answer = {}
    await clock.advance(4_000)
    expect(watcher.snapshot().up).toBe(true)
    expect(onRecovery).toHaveBeenCalledTimes(1)
    expect([status, rcon, query].map((source) => source!.polledAt.filter((at) => at >= 10_000).length)).toEqual([2, 2, 1])
    watcher.close()
  })

  it('has nothing polled once more if only single polls are made', async () => {
    const { watcher, clock, sources } = watch(['status', 'rcon'])
    for (const source of sources) source.answer = refused
    await watcher.poll()
    sources[0]!.answer = {}
    await watcher.poll()
    await clock.advance(2_000)
    expect(watcher.snapshot().up).toBe(true)
    expect(sources[1]?.polledAt).toHaveLength(2)
    watcher.close()
  })
})

it('neither counts nor publishes a poll that ends after it was closed', async () => {
  const { watcher, clock, sources } = watch(['status', 'rcon'])
  sources[0]!.answer = answerAfter(clock, 500)
  sources[1]!.answer = () => new Promise((_, reject) => clock.after(600, () => reject(refused)))
  const seen = vi.fn()
  const onPoll = watcher.poll()
  watcher.subscribe(seen)
  watcher.close()
  await clock.advance(3_000)
  expect((await onPoll).polls).toEqual({})
  expect(watcher.snapshot().sources.map(({ state }) => state)).toEqual(['pending', 'pending'])
  expect(seen).not.toHaveBeenCalled()
})

it('publishes the sources that have answered while another one is slow', async () => {
  const { watcher, clock, sources } = watch(['status', 'rcon'])
  sources[1]!.answer = answerAfter(clock, 2_000, { difficulty: 'hard' })
  const seen: (readonly string[])[] = []
  watcher.subscribe(({ sources: states }) => seen.push(states.map(({ state }) => state)))
  watcher.start()
  await clock.advance(99)
  expect(seen).toEqual([])
  await clock.advance(1)
  expect(seen).toEqual([['ok', 'pending']])
  await clock.advance(1_900)
  expect(seen).toEqual([
    ['ok', 'pending'],
    ['ok', 'ok'],
  ])
  watcher.close()
})
