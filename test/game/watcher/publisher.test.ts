import { beforeEach, describe, expect, it, vi } from 'vitest'
import { SourceError } from '../../../src/game/errors.ts'
import type { ServerSnapshot } from '../../../src/game/snapshot.ts'
import type { MainThreadActivity, Reading, Source } from '../../../src/game/sources/source.ts'
import { Publisher, type PublisherOptions } from '../../../src/game/watcher/publisher.ts'
import { SourceStates } from '../../../src/game/watcher/source-states.ts'
import { silentLog } from '../../../src/util/log.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const settings = { interval: 5_000, timeout: 3_000, staleAfter: 15_000 }
const wallAt = (now: number) => 1_700_000_000_000 + now
const players = (...names: string[]) => ({ players: names.map((name) => ({ name })), complete: true })

let clock: ReturnType<typeof manualClock>
let list: readonly Source[]
let states: SourceStates
let seen: ServerSnapshot[]
const error = vi.fn()
beforeEach(() => {
  error.mockClear()
  seen = []
})

const source = (name: Source['name'], more: object = {}) => ({ name, target: `${name}:1`, ...more }) as Source
const [status, rcon, management, directory] = [source('status'), source('rcon'), source('management'), source('directory')]
const refused = new SourceError('refused', 'refused', { hint: 'start it' })

function publish(sources: readonly Source[], more: Partial<PublisherOptions> = {}) {
  clock = manualClock(1_000)
  list = sources
  const log = { ...silentLog, error }
  states = new SourceStates({ server: 'Server', clock, log })
  const publisher = new Publisher({ server: 'Server', settings, clock, log, states, listSources: () => list, ...more })
  publisher.subscribe((snapshot) => seen.push(snapshot))
  const readingOf = ({ name }: Source, fields: Reading['fields'], given: Partial<Reading>): Reading => ({
    ...{ source: name, at: clock.now(), fields },
    ...given,
  })
  return {
    publisher,
    ok(of: Source, fields: Reading['fields'] = {}, given: Partial<Reading> = {}) {
      states.ok(of, 0.25)
      return publisher.addPolled(of, readingOf(of, fields, given))
    },
    push: (of: Source, fields: Reading['fields'] = {}, given: Partial<Reading> = {}) =>
      publisher.addPushed(of, readingOf(of, fields, given)),
    fail(of: Source, failure = refused) {
      publisher.addFailed(of, failure)
      states.failed(of, 0.25, failure)
    },
    end() {
      publisher.pollEnded(clock.now())
      return publisher.snapshot().up
    },
  }
}
const stateOf = (of: Source) => ({ source: of.name, target: of.target, state: 'ok', duration: 0.25, lastSuccess: clock.wall() })

describe('a snapshot', () => {
  it('is stale and empty before the first poll', () => {
    const { publisher } = publish([status], { demo: true })
    expect(publisher.snapshot()).toStrictEqual({
      ...{ server: 'Server', at: 1_000, demo: true, fields: {}, polls: {}, isStale: true },
      sources: [{ source: 'status', target: 'status:1', state: 'pending' }],
    })
    expect(publisher.snapshot()).toBe(publisher.snapshot())
    expect(seen).toEqual([])
  })

  it('has nothing that is not known', () => {
    const { publisher, ok } = publish([status])
    expect(ok(status, { motd: 'Hi' })).toBe(false)
    publisher.pollEnded(900)
    const snapshot = {
      ...{ server: 'Server', at: 1_000, up: true, knownUntil: 16_000, polls: { ok: 1 }, pollDuration: 0.1 },
      ...{ lastPollAt: wallAt(1_000), lastContact: { at: 1_000, wall: wallAt(1_000) } },
      ...{ fields: { motd: { value: 'Hi', source: 'status' } }, sources: [stateOf(status)] },
    }
    expect(publisher.snapshot()).toStrictEqual(snapshot)
    expect(seen).toStrictEqual([snapshot])
  })

  it('counts joins, leaves and polls by their outcome', () => {
    const { publisher, ok, push, fail, end } = publish([status, management, directory])
    ok(management, { players: players('Alice') })
    end()
    push(management, { players: players('Bob', 'Carol') })
    expect(publisher.snapshot()).toMatchObject({ joins: 2, leaves: 1 })
    for (const each of [status, management]) fail(each)
    fail(directory, new SourceError('malformed', 'no', { hint: 'none' }))
    expect(end()).toBe(false)
    fail(management, new SourceError('exhausted', 'too many open files', { hint: 'none' }))
    expect(end()).toBe(false)
    expect(publisher.snapshot().polls).toEqual({ ok: 1, refused: 1, exhausted: 1 })
  })

  it('counts no poll of a server of which only files are read, and one without an error as unreachable', () => {
    const files = publish([directory])
    files.ok(directory, { difficulty: 'hard' })
    expect(files.end()).toBeUndefined()
    expect(files.publisher.snapshot()).toMatchObject({ polls: {}, isStale: true })
    expect(files.publisher.snapshot()).not.toHaveProperty('lastContact')
    expect(files.publisher.snapshot()).not.toHaveProperty('up')
    expect(files.publisher.snapshot()).not.toHaveProperty('knownUntil')
    const { publisher, end } = publish([status])
    publisher.addFailed(status, refused)
    end()
    expect(publisher.snapshot()).toMatchObject({ up: false, polls: { unreachable: 1 } })
  })

  it('is of the last contact, whose time is that of the newest reading', async () => {
    const { publisher, ok, push, end } = publish([status, rcon, directory])
    await clock.advance(4_000)
    ok(status, {}, { at: 4_500 })
    ok(rcon, {}, { at: 4_200 })
    ok(directory, {}, { at: 5_000 })
    end()
    expect(publisher.snapshot()).toMatchObject({ lastContact: { at: 4_500, wall: wallAt(4_500) }, knownUntil: 19_500 })
    clock.jump(1_000_000)
    push(rcon, {}, { at: 4_500 })
    expect(publisher.snapshot().lastContact).toEqual({ at: 4_500, wall: wallAt(4_500) })
  })
})

describe('what is stale', () => {
  it('is published at that moment, also if nobody asks', async () => {
    const { ok, end } = publish([status])
    ok(status, { motd: 'Hi' })
    end()
    await clock.advance(14_999)
    expect(seen).toHaveLength(1)
    await clock.advance(1)
    expect(seen.map(({ at, up, isStale, fields }) => [at, up, isStale, Object.keys(fields)])).toEqual([
      [1_000, true, undefined, ['motd']],
      [16_000, undefined, true, []],
    ])
    await clock.advance(60_000)
    expect(seen).toHaveLength(2)
    expect(clock.pending).toBe(0)
  })

  it('is one timer, which a poll moves', async () => {
    const { ok, end } = publish([status])
    for (let poll = 0; poll < 10; poll++) {
      ok(status, { motd: 'Hi' })
      end()
      expect(clock.pending).toBe(1)
      await clock.advance(5_000)
    }
    expect(seen).toHaveLength(10)
    await clock.advance(9_999)
    expect(seen).toHaveLength(10)
    await clock.advance(1)
    expect(seen.at(-1)).toMatchObject({ at: 1_000 + 45_000 + 15_000, isStale: true })
  })

  it('is unknown when it is asked for, although the timer is late', async () => {
    let stopped = 0
    const { publisher, ok, end } = publish([status])
    const late = { ...clock, now: () => clock.now() + stopped, wall: clock.wall, after: clock.after }
    const other = publish([status], { clock: late })
    for (const each of [ok, other.ok]) each(status, { motd: 'Hi' })
    end()
    other.end()
    expect(publisher.snapshot().up).toBe(true)
    stopped = 15_000
    expect(other.publisher.snapshot()).toMatchObject({ isStale: true, fields: {} })
    other.publisher.close()
    stopped = 100_000
    expect(other.publisher.snapshot().at).toBe(16_000)
  })

  it('is a server that is down only after its next poll should have ended and became stale', async () => {
    const { ok, fail, end } = publish([status])
    ok(status, { motd: 'Hi' })
    end()
    await clock.advance(2_000)
    fail(status)
    end()
    expect(seen.at(-1)).toMatchObject({ at: 3_000, up: false, knownUntil: 26_000, fields: { motd: { value: 'Hi' } } })
    // The fields are kept until the last contact is stale.
    await clock.advance(13_000)
    expect(seen.at(-1)).toMatchObject({ at: 16_000, up: false, knownUntil: 26_000, isStale: true, fields: {} })
    await clock.advance(9_999)
    expect(seen.at(-1)?.up).toBe(false)
    await clock.advance(1)
    expect(seen.at(-1)?.at).toBe(26_000)
    expect(seen.at(-1)).not.toHaveProperty('up')
    expect(clock.pending).toBe(0)
  })

  it('counts from the end of a poll that could not ask', async () => {
    const { publisher, fail, end } = publish([status])
    fail(status)
    end()
    expect(publisher.snapshot().knownUntil).toBe(24_000)
    await clock.advance(1_000)
    fail(status, new SourceError('exhausted', 'too many open files', { hint: 'none' }))
    end()
    expect(publisher.snapshot()).toMatchObject({ up: false, knownUntil: 24_000 })
    await clock.advance(1_000)
    states.failed(status, 0.25, refused)
    end()
    expect(publisher.snapshot().knownUntil).toBe(26_000)
  })

  it('is kept of a server that is down by what was polled of its network sources, not by what it sent or by its files', async () => {
    const { ok, push, fail, end } = publish([status, directory])
    ok(status, { motd: 'Hi' })
    end()
    await clock.advance(4_000)
    push(status, { latency: 0.1 })
    ok(directory, { difficulty: 'hard' })
    fail(status)
    end()
    await clock.advance(10_999)
    expect(Object.keys(seen.at(-1)?.fields ?? {}).sort()).toEqual(['difficulty', 'latency', 'motd'])
    await clock.advance(1)
    expect(Object.keys(seen.at(-1)?.fields ?? {})).not.toContain('motd')
  })
})

describe('the ticks', () => {
  const counted = (ticks: number, seconds: number) => ({ tickCount: { ticks, at: seconds * 1_000 }, playersOnline: 3 })
  const rate = () => seen.at(-1)?.fields.tickRate?.value
  function start(...sources: readonly Source[]) {
    const publisher = publish(sources)
    const { ok, end } = publisher
    return {
      ...publisher,
      async count(ticks: number, connection?: object) {
        ok(status)
        ok(rcon, counted(ticks, clock.now() / 1_000), connection && { connection })
        end()
        await clock.advance(5_000)
        return rate()
      },
    }
  }

  it('are compared over one connection, and without a failure of their source in between', async () => {
    const { count, fail, ok } = start(status, rcon)
    const connection = {}
    expect(await count(100, connection)).toBeUndefined()
    expect(await count(200, connection)).toBe(20)
    // What has no counter says nothing of its connection.
    ok(status, {}, { connection: {} })
    expect(await count(300, connection)).toBe(20)
    expect(await count(400, {})).toBeUndefined()
    expect(await count(500)).toBeUndefined()
    expect(await count(600)).toBe(20)
    fail(status)
    expect(await count(700)).toBe(20)
    fail(rcon)
    expect(await count(800)).toBeUndefined()
    expect(await count(900)).toBe(20)
  })

  it('are not compared over an outage', async () => {
    const { count, fail, end } = start(status, rcon)
    await count(100)
    expect(await count(200)).toBe(20)
    for (const each of [status, rcon]) fail(each)
    end()
    expect(seen.at(-1)?.up).toBe(false)
    expect(rate()).toBeUndefined()
    expect(await count(400)).toBeUndefined()
  })

  it('are unknown while the main thread is hung', async () => {
    let activity: MainThreadActivity = {}
    const slow = source('rcon', { mainThread: () => activity })
    const { count } = start(status, slow)
    await count(100)
    expect(seen.at(-1)).not.toHaveProperty('mainThread')
    activity = { answeredAt: 6_000, delayMs: 40 }
    expect(await count(200)).toBe(20)
    expect(seen.at(-1)?.mainThread).toEqual({ responsive: true, delay: 0.04 })
    activity = { waitingSince: -10_000, lastSentAt: 10_000 }
    expect(await count(300)).toBeUndefined()
    expect(seen.at(-1)?.mainThread?.responsive).toBe(false)
    expect(seen.at(-1)?.fields.tickCount).toBeDefined()
  })
})

describe('the subscribers', () => {
  it('are told what fails', () => {
    const { publisher, ok, end } = publish([status])
    const failure = new Error('a faulty listener')
    const endOther = publisher.subscribe(() => {
      throw failure
    })
    ok(status)
    end()
    expect(error.mock.calls).toEqual([[{ err: failure, server: 'Server' }, 'Server: a snapshot listener failed']])
    endOther()
    end()
    expect(error).toHaveBeenCalledTimes(1)
    expect(seen).toHaveLength(2)
  })

  it('get what arrives soon, in one snapshot, and nothing after the end', async () => {
    const { publisher, ok, push, end } = publish([status, rcon])
    // Before the end of the first poll.
    push(rcon, { difficulty: 'hard' })
    ok(status, { motd: 'Hi' })
    await clock.advance(99)
    expect(seen).toEqual([])
    await clock.advance(1)
    expect(seen.map(({ fields }) => Object.keys(fields).sort())).toEqual([['difficulty', 'motd']])
    publisher.publishSoon()
    end()
    await clock.advance(100)
    expect(seen).toHaveLength(2)
    push(rcon, { difficulty: 'easy' })
    expect(seen).toHaveLength(3)
    publisher.publishSoon()
    publisher.close()
    publisher.publishSoon()
    end()
    await clock.advance(60_000)
    expect(seen).toHaveLength(3)
    expect(clock.pending).toBe(0)
  })
})

it('is up again by a reading or an event, but not while it starts, and then without what was read before', () => {
  const { publisher, ok, push, fail, end } = publish([status, rcon])
  // The first contact is no recovery.
  expect(ok(status, { motd: 'Hi' })).toBe(false)
  end()
  for (const each of [status, rcon]) fail(each)
  end()
  expect(push(rcon, { difficulty: 'hard' }, { isStarting: true })).toBe(false)
  expect(publisher.snapshot().up).toBe(false)
  expect(push(rcon)).toBe(true)
  expect(publisher.snapshot().up).toBe(true)
  expect(publisher.snapshot().fields).not.toHaveProperty('motd')
  expect(push(rcon)).toBe(false)
})

it('is down while a proxy answers for it, and what other sources reach then is no contact', async () => {
  const { publisher, ok, push, fail, end } = publish([status, rcon])
  const asleep = new SourceError('asleep', 'a proxy answers')
  ok(rcon, { motd: 'Hi' })
  fail(status, asleep)
  end()
  expect(publisher.snapshot()).toMatchObject({ up: false, polls: { asleep: 1 }, lastContact: { at: 1_000 } })
  await clock.advance(settings.staleAfter)
  for (const names of [['Al'], ['Bob', 'Cid']]) {
    ok(rcon, { players: players(...names) })
    push(rcon)
    fail(status, asleep)
    end()
  }
  const { isStale, up, lastContact, joins } = publisher.snapshot()
  expect({ isStale, up, lastContact }).toMatchObject({ isStale: true, up: false, lastContact: { at: 1_000 } })
  expect(joins).toBeUndefined()
  expect(ok(status)).toBe(true)
  publisher.pollEnded(clock.now())
  expect(publisher.snapshot().up).toBe(true)
  expect(publisher.snapshot().joins).toBe(0)
})

it('is up by what other sources have reached, once the source that detects a sleeping server has failed', () => {
  const detecting = source('status', { detectsSleep: true })
  const { publisher, ok, fail, end } = publish([detecting, rcon])
  ok(rcon, { difficulty: 'hard' })
  expect(publisher.snapshot()).not.toHaveProperty('lastContact')
  fail(detecting)
  end()
  expect(publisher.snapshot()).toMatchObject({ up: true, lastContact: { at: 1_000 }, fields: { difficulty: { value: 'hard' } } })
})
