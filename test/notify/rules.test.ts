import { describe, expect, it } from 'vitest'
import type { LiveState } from '../../src/live/state.ts'
import type { Observation } from '../../src/notify/observation.ts'
import { applyRule, createMemory, forgetPending, type Rule, type Told } from '../../src/notify/rules.ts'

const up: LiveState = {
  ...{ up: true, online: 3, max: 20, players: null, version: '1.21.11', software: null, motd: null, tickRate: 20 },
  ...{ tickTimeMean: null, tickTimeP99: null, paused: null, frozen: null, responsive: true, latency: null, maintenance: null },
}
const unknown: LiveState = {
  ...{ up: null, online: null, max: null, players: null, version: null, software: null, motd: null, tickRate: null },
  ...{ tickTimeMean: null, tickTimeP99: null, paused: null, frozen: null, responsive: null, latency: null, maintenance: null },
}
const down: LiveState = { ...unknown, up: false }
const hung: LiveState = { ...up, responsive: false }
const full: LiveState = { ...up, online: 20 }
const empty: LiveState = { ...up, online: 0 }
const players = (...names: readonly string[]): LiveState => ({ ...up, players: names.map((NAME) => ({ ID: NAME, NAME })) })

interface Given {
  readonly channel?: Partial<Rule['channel']>
  readonly settings?: Partial<Rule['settings']>
  isQuiet?: Rule['isQuiet']
}

/** Shows a channel one observation after another, a second apart. */
function start({ channel, settings, isQuiet = () => false }: Given, stored?: Told) {
  const rule: Rule = {
    channel: { events: ['down', 'up', 'hung'], after: 1, for: 0, repeat: 0, minPause: 0, ...channel },
    settings: { restartGrace: 0, laggingBelow: 0.9, laggingFor: 0, troubleAfter: 0, ...settings },
    isQuiet: (event) => isQuiet(event),
  }
  const memory = createMemory()
  let told = stored
  let second = 0
  const see = (state: LiveState, more: Partial<Observation> = {}) => {
    second++
    const seen: Observation = {
      ...{ key: 'a', server: 'a', group: null, at: 1_000_000 + second * 1_000, now: second * 1_000, isPoll: true, state },
      ...{ error: state.up === false ? 'refused' : null, tickRatio: undefined, trouble: null, record: () => undefined, ...more },
    }
    const { told: next, drafts } = applyRule(rule, told, memory, seen)
    told = next
    return drafts
  }
  return {
    rule,
    memory,
    see,
    told: () => told,
    /** The events that each observation is told by. */
    events: (...states: readonly LiveState[]) =>
      states.map((state) =>
        see(state)
          .map(({ event }) => event)
          .join(' '),
      ),
    wait: (seconds: number) => {
      second += seconds
    },
  }
}

describe('what a channel is told', () => {
  it.each<[string, Given, readonly LiveState[], readonly string[]]>([
    ['each change once', {}, [up, down, down, up, up, down], ['', 'down', '', 'up', '', 'down']],
    ['nothing of the first observation', {}, [down, down], ['', '']],
    ['the end of what was there first', {}, [down, up], ['', 'up']],
    ['nothing of what is unknown', {}, [up, unknown, up], ['', '', '']],
    ['a change that was unknown in between', {}, [up, unknown, down, unknown, up], ['', '', 'down', '', 'up']],
    ['what enough polls show', { channel: { after: 3 } }, [up, down, down, down], ['', '', '', 'down']],
    ['nothing of fewer polls', { channel: { after: 3 } }, [up, down, down, up, down, down], ['', '', '', '', '', '']],
    ['nothing if the state was unknown between them', { channel: { after: 2 } }, [up, down, unknown, down], ['', '', '', '']],
    ['what lasts', { channel: { for: 2_000 } }, [up, down, down, down], ['', '', '', 'down']],
    ['the end at once', { channel: { for: 2_000 } }, [up, down, down, down, up], ['', '', '', 'down', 'up']],
    ['a hung server', {}, [up, hung, hung, up], ['', 'hung', '', 'up']],
    ['only the outage of a hung server', {}, [up, hung, down, up], ['', 'hung', 'down', 'up']],
    ['the end for a channel without down', { channel: { events: ['up'] } }, [up, down, up], ['', '', 'up']],
    ['the begin for a channel without up', { channel: { events: ['down'] } }, [up, down, up], ['', 'down', '']],
    [
      'a full server, and not its end',
      { channel: { events: ['full'] } },
      [up, full, full, up, full],
      ['', 'full', '', '', 'full'],
    ],
    ['an empty server', { channel: { events: ['empty'] } }, [up, empty, empty, up, empty], ['', 'empty', '', '', 'empty']],
    [
      'an empty server only after players were seen',
      { channel: { events: ['empty', 'up'] } },
      [down, empty, empty, up, empty],
      ['', 'up', '', '', 'empty'],
    ],
    [
      'of an empty server again only if the last player was seen to leave',
      { channel: { events: ['empty'], repeat: 1_000 } },
      [down, empty, empty, up, empty, empty],
      ['', '', '', '', 'empty', 'empty'],
    ],
    [
      'an empty server once, whatever happens to it',
      { channel: { events: ['empty'] } },
      [up, empty, down, empty],
      ['', 'empty', '', ''],
    ],
    [
      'a full server again after an outage',
      { channel: { events: ['full', 'down'] } },
      [up, full, down, full],
      ['', 'full', 'down', 'full'],
    ],
    ['nothing of a server without slots', { channel: { events: ['full'] } }, [up, { ...up, online: 0, max: 0 }], ['', '']],
    [
      'nothing of an unknown number',
      { channel: { events: ['full', 'empty'] } },
      [up, { ...up, online: null }, { ...full, max: null }],
      ['', '', ''],
    ],
    ['more players than slots', { channel: { events: ['full'] } }, [up, { ...up, online: 21 }], ['', 'full']],
    [
      'each new version',
      { channel: { events: ['version'] } },
      [up, { ...up, version: '26.1' }, { ...up, version: '26.1' }],
      ['', 'version', ''],
    ],
    [
      'a version that enough polls show',
      { channel: { events: ['version'], after: 2 } },
      [up, { ...up, version: '26.1' }, { ...up, version: '26.1' }],
      ['', '', 'version'],
    ],
    [
      'nothing of a version of one poll',
      { channel: { events: ['version'], after: 2 } },
      [up, { ...up, version: '26.1' }, up, { ...up, version: '26.1' }],
      ['', '', '', ''],
    ],
    ['nothing of an unknown version', { channel: { events: ['version'] } }, [up, down, up], ['', '', '']],
    [
      'each record',
      { channel: { events: ['record'] } },
      [up, { ...up, online: 4 }, { ...up, online: 4 }, up, { ...up, online: 5 }],
      ['', 'record', '', '', 'record'],
    ],
    [
      'a record that enough polls show',
      { channel: { events: ['record'], after: 2 } },
      [up, { ...up, online: 4 }, up, { ...up, online: 5 }, { ...up, online: 5 }],
      ['', '', '', '', 'record'],
    ],
    [
      'who joins and leaves',
      { channel: { events: ['join', 'leave'] } },
      [players('x'), players('x', 'y'), players('y', 'z')],
      ['', 'join', 'leave join'],
    ],
    ['only who joins', { channel: { events: ['join'] } }, [players('x'), players('y')], ['', 'join']],
    [
      'nothing of a list that is unknown',
      { channel: { events: ['join', 'leave'] } },
      [players('x'), up, players('x')],
      ['', '', ''],
    ],
    [
      'no players of the first list',
      { channel: { events: ['join', 'leave'] } },
      [up, players('x'), players('x', 'y')],
      ['', '', 'join'],
    ],
    ['nothing of a main thread that is unknown', {}, [up, { ...up, responsive: null }], ['', '']],
    [
      'a full server once, though its number was unknown',
      { channel: { events: ['full'] } },
      [up, full, { ...full, online: null }, full, { ...full, max: null }, full],
      ['', 'full', '', '', '', ''],
    ],
    [
      'an empty server once, though its number was unknown',
      { channel: { events: ['empty'] } },
      [up, empty, { ...up, online: null }, empty],
      ['', 'empty', '', ''],
    ],
    [
      'an empty server once, though it was down',
      { channel: { events: ['empty', 'down'] } },
      [up, empty, down, empty],
      ['', 'empty', 'down', ''],
    ],
    [
      'a full server once, though it was unknown',
      { channel: { events: ['full', 'down'] } },
      [up, full, unknown, full],
      ['', 'full', '', ''],
    ],
    ['no end of a full server', { channel: { events: ['full', 'up'] } }, [up, full, up], ['', 'full', '']],
    ['the end of being hung for a channel without hung', { channel: { events: ['up'] } }, [up, hung, up], ['', '', 'up']],
    [
      'a full server at once, whatever the time of other problems',
      { channel: { events: ['full'] }, settings: { restartGrace: 9_000, laggingFor: 9_000, troubleAfter: 9_000 } },
      [up, full],
      ['', 'full'],
    ],
    [
      'nothing of a main thread that hangs for a moment',
      { channel: { for: 3_000 }, settings: { restartGrace: 5_000 } },
      [up, hung, up],
      ['', '', ''],
    ],
    [
      'nothing of an outage that is neither short nor long',
      { channel: { for: 5_000 }, settings: { restartGrace: 1_000 } },
      [up, down, down, down, up],
      ['', '', '', '', ''],
    ],
    ['a restart of exactly the grace', { settings: { restartGrace: 2_000 } }, [up, down, down, up], ['', '', '', 'restart']],
    [
      'a restart, for a channel without up',
      { channel: { events: ['down'] }, settings: { restartGrace: 2_000 } },
      [up, down, up],
      ['', '', 'restart'],
    ],
    [
      'a restart, for a channel without down',
      { channel: { events: ['up'] }, settings: { restartGrace: 2_000 } },
      [up, down, up],
      ['', '', 'restart'],
    ],
    [
      'no restart in quiet hours',
      { settings: { restartGrace: 2_000 }, isQuiet: (event) => event === 'up' },
      [up, down, up],
      ['', '', ''],
    ],
    ['only who leaves', { channel: { events: ['leave'] } }, [players('x'), players('y')], ['', 'leave']],
    [
      'no version in quiet hours',
      { channel: { events: ['version', 'record'] }, isQuiet: (event) => event === 'version' },
      [up, { ...up, version: '26.1' }],
      ['', ''],
    ],
    [
      'no record in quiet hours',
      { channel: { events: ['version', 'record'] }, isQuiet: (event) => event === 'record' },
      [up, { ...up, online: 4 }],
      ['', ''],
    ],
  ])('is %s', (_, given, states, events) => expect(start(given).events(...states)).toEqual(events))
})

it('tells how long it lasted, why, and since when', () => {
  const { see } = start({})
  see(up)
  see(down)
  expect(see(up)).toMatchObject([{ event: 'up', endOf: 'down', duration: 1, error: null, at: 1_003_000 }])
  see(up)
  expect(see(down)).toMatchObject([{ event: 'down', duration: 2, error: 'refused', server: 'a', group: null, state: down }])
  see(up)
  see(hung)
  see(hung)
  expect(see(up)).toMatchObject([{ event: 'up', endOf: 'hung', duration: 2 }])
  expect(see(down), 'since the last outage').toMatchObject([{ event: 'down', duration: 4 }])
  const first = start({})
  first.see(down)
  expect(first.see(up)).toMatchObject([{ event: 'up', duration: null }])
})

it('tells the time at which a change began', () => {
  const { see } = start({ channel: { after: 3 } })
  see(up)
  see(down)
  see(down)
  expect(see(down)).toMatchObject([{ event: 'down', at: 1_002_000 }])
})

it('counts polls, not other events', () => {
  const { see } = start({ channel: { after: 2 } })
  see(up)
  see(down)
  expect(see(down, { isPoll: false })).toEqual([])
  expect(see(down)).toMatchObject([{ event: 'down' }])
})

describe('an outage that is short', () => {
  const given: Given = { settings: { restartGrace: 3_000 } }
  it('is a restart', () => {
    const { see, events } = start(given)
    events(up, down, down)
    expect(see(up)).toMatchObject([{ event: 'restart', duration: 2, at: 1_004_000 }])
    expect(events(up, down, down, down, down)).toEqual(['', '', '', '', 'down'])
  })

  it('is nothing if fewer polls show it than must', () =>
    expect(start({ channel: { after: 2 }, ...given }).events(up, down, up, up)).toEqual(['', '', '', '']))

  it('is not told to a channel of other events', () =>
    expect(start({ channel: { events: ['hung'] }, ...given }).events(up, down, up)).toEqual(['', '', '']))

  it('is an outage if it lasts for as long', () =>
    expect(start(given).events(up, down, down, down, down, up)).toEqual(['', '', '', '', 'down', 'up']))

  it('begins the time that is up', () => {
    const { see, events } = start(given)
    events(up, down, up, up, down, down, down)
    expect(see(down)).toMatchObject([{ event: 'down', duration: 2 }])
  })
})

describe('a server that lags', () => {
  const lagging = { tickRatio: 0.89 }
  it.each([
    ['below the limit', [0.9, 0.89], ['', 'lagging']],
    ['never while its ticks are unknown', [1, undefined], ['', '']],
    ['once', [1, 0.5, 0.4, 0.95, 0.5], ['', 'lagging', '', '', 'lagging']],
    ['once, though its ticks were unknown', [1, 0.5, undefined, 0.5], ['', 'lagging', '', '']],
  ] as const)('is told %s', (_, ratios, events) => {
    const { see } = start({ channel: { events: ['lagging'] } })
    expect(
      ratios.map((tickRatio) =>
        see(up, { tickRatio })
          .map(({ event }) => event)
          .join(),
      ),
    ).toEqual(events)
  })

  it('is told after its own time', () => {
    const { see } = start({ channel: { events: ['lagging'] }, settings: { laggingFor: 2_000 } })
    expect([see(up, { tickRatio: 1 }), see(up, lagging), see(up, lagging)].flat()).toEqual([])
    expect(see(up, lagging)).toMatchObject([{ event: 'lagging', error: null, duration: null }])
  })

  it('is not told while it is hung', () => {
    const { see } = start({ channel: { events: ['lagging'] } })
    see(up, { tickRatio: 1 })
    expect(see(hung, lagging)).toEqual([])
  })
})

describe('a source that fails', () => {
  const trouble = { trouble: 'source rcon fails (refused)' }
  it('is told after its own time, with the reason', () => {
    const { see } = start({ channel: { events: ['trouble'] }, settings: { troubleAfter: 1_000 } })
    see(up)
    expect(see(up, trouble)).toEqual([])
    expect(see(up, trouble)).toMatchObject([{ event: 'trouble', error: 'source rcon fails (refused)' }])
    expect(see(up, trouble)).toEqual([])
  })

  it('is not told of a server that is down', () => {
    const { see } = start({ channel: { events: ['trouble'] } })
    see(up)
    expect(see(down, trouble)).toEqual([])
  })
})

describe('what is repeated', () => {
  it('is told again while it lasts', () => {
    const { see, events } = start({ channel: { repeat: 2_000 } })
    expect(events(up, down, down)).toEqual(['', 'down', ''])
    expect(see(down)).toMatchObject([{ event: 'down', duration: 2, error: 'refused', at: 1_002_000 }])
    expect(events(down, down)).toEqual(['', 'down'])
  })

  it('is told without a duration if it was there first', () => {
    const { see } = start({ channel: { repeat: 1_000 } })
    see(down)
    expect(see(down)).toMatchObject([{ event: 'down', duration: null, at: 1_002_000 }])
  })

  it('is not told earlier if it was there first', () => {
    const { events } = start({ channel: { repeat: 3_000 } })
    expect(events(down, down, down, down, down)).toEqual(['', '', '', 'down', ''])
  })

  it('is told in time after restarts if it was there first', () => {
    const given: Given = { channel: { repeat: 3_000 } }
    const first = start(given)
    first.see(down)
    const second = start(given, first.told())
    second.wait(3)
    expect(second.events(down, down)).toEqual(['down', ''])
  })

  it('is not told of what may still be a restart if it was there first', () => {
    const { events } = start({ channel: { repeat: 1_000 }, settings: { restartGrace: 3_000 } })
    expect(events(down, down, down, down, down)).toEqual(['', '', '', 'down', 'down'])
  })

  it('is never told by default', () => expect(start({}).events(up, down, down, down)).toEqual(['', 'down', '', '']))
})

describe('what is not told now', () => {
  it('is told later if it still holds', () => {
    const given: Given = { isQuiet: () => true }
    const { events } = start(given)
    expect(events(up, down, down)).toEqual(['', '', ''])
    const loud = start({ isQuiet: (event) => event === 'down' && isNight })
    let isNight = true
    expect(loud.events(up, down)).toEqual(['', ''])
    isNight = false
    expect(loud.events(down, up)).toEqual(['down', 'up'])
  })

  it('is not told later if it has passed', () => {
    let isNight = true
    const { events } = start({ channel: { events: ['down', 'up', 'version', 'record', 'join', 'full'] }, isQuiet: () => isNight })
    expect(events(up, down, { ...full, version: '26.1' }, up)).toEqual(['', '', '', ''])
    isNight = false
    expect(events(up, up)).toEqual(['', ''])
  })

  it('waits until enough time has passed since the last', () => {
    const { see, events, wait } = start({ channel: { minPause: 10_000 } })
    expect(events(up, down, up)).toEqual(['', 'down', ''])
    wait(6)
    expect(events(up, up)).toEqual(['', ''])
    expect(see(up)).toMatchObject([{ event: 'up' }])
  })

  it('does not wait for a time in the future, after the clock was set back', () => {
    const { see, events } = start({ channel: { minPause: 10_000 } })
    expect(events(up, down)).toEqual(['', 'down'])
    expect(see(up, { at: 5_000 })).toMatchObject([{ event: 'up' }])
  })

  it('does not separate what one observation shows', () => {
    const { see } = start({ channel: { events: ['version', 'record'], minPause: 10_000 } })
    see(up)
    expect(see({ ...up, version: '26.1', online: 4 }).map(({ event }) => event)).toEqual(['version', 'record'])
  })
})

it('tells another version once enough polls in a row show it', () => {
  const other = { ...up, version: '26.1' }
  const { events } = start({ channel: { events: ['version'], after: 2 } })
  expect(events(up, other, down, down, other, other, other)).toEqual(['', '', '', '', '', 'version', ''])
})

describe('the record', () => {
  it('is not remembered while nobody knows how many are online', () => {
    const { events, told } = start({ channel: { events: ['record'] } })
    expect(events(down)).toEqual([''])
    expect(told()).toStrictEqual({})
    expect(events(up)).toEqual([''])
  })

  it('is the one of the history', () => {
    const { see } = start({ channel: { events: ['record'] } })
    see(up, { record: () => 9 })
    expect(see({ ...up, online: 9 })).toEqual([])
    expect(see({ ...up, online: 10 })).toMatchObject([{ event: 'record', at: 1_003_000 }])
  })

  it('waits until the history has been read', () => {
    const { see } = start({ channel: { events: ['record'] } })
    see(up, { record: () => null })
    see({ ...up, online: 5 }, { record: () => 9 })
    expect(see({ ...up, online: 9 })).toEqual([])
    expect(see({ ...up, online: 10 })).toHaveLength(1)
  })

  it('is what is online if there is no history', () => {
    const { see, told } = start({ channel: { events: ['record'] } })
    see(up)
    expect(told()).toMatchObject({ record: 3 })
  })
})

it('tells of a list of servers what was there first, without a state', () => {
  const list = { key: 'docker', server: null, error: 'refused' }
  const [draft, ...others] = start({}).see(down, list)
  expect(draft).toMatchObject({ event: 'down', server: null, state: null, error: 'refused' })
  expect(others).toEqual([])
})

it('is not told again that a server is down that came up for a moment in quiet hours', () => {
  let isNight = false
  const { events } = start({ settings: { restartGrace: 1_000 }, isQuiet: (event) => isNight && event === 'up' })
  expect(events(up, down, down)).toEqual(['', '', 'down'])
  isNight = true
  expect(events(up)).toEqual([''])
  isNight = false
  expect(events(down, up)).toEqual(['', 'up'])
})

it('stores only what the channel is told', () => {
  const { events, see, told } = start({ channel: { events: ['down'] } })
  events(up, { ...hung, version: '26.1', online: 20 }, down)
  expect(told()).toStrictEqual({ down: 1_003_000, since: 1_003_000, toldAt: 1_003_000 })
  see(up, { trouble: 'source rcon fails (refused)' })
  expect(told()).toStrictEqual({ since: 1_004_000, toldAt: 1_003_000 })
  const version = start({ channel: { events: ['version'] } })
  version.events(up, hung, down)
  expect(version.told()).toStrictEqual({ version: '1.21.11' })
})

it('has no error for what is no error', () => {
  const { see } = start({ channel: { events: ['full'] } })
  see(up)
  expect(see(full, { trouble: 'source rcon fails (refused)', error: 'refused' })).toMatchObject([{ event: 'full', error: null }])
})

it('goes on with what was told before a restart', () => {
  const before = start({})
  before.events(up, down)
  expect(start({}, before.told()).events(down, up)).toEqual(['', 'up'])
  expect(start({}, before.told()).events(up)).toEqual(['up'])
})

it('changes nothing if nothing has happened', () => {
  const { see, told } = start({})
  see(up)
  const before = told()
  see(up)
  expect(told()).toBe(before)
})

it('forgets in maintenance what was pending, and the players', () => {
  const { rule, memory, see, told } = start({ channel: { events: ['down', 'join'], after: 2 } })
  see(players('x'))
  see(down)
  forgetPending(memory, players('x', 'y'))
  expect(see(down)).toEqual([])
  expect(see(down)).toMatchObject([{ event: 'down' }])
  expect(see(players('x', 'y'))).toEqual([])
  forgetPending(memory, up)
  expect(memory.players).toHaveLength(2)
  expect(applyRule(rule, told(), memory, { ...observationOf(players('x', 'y', 'z')) }).drafts).toMatchObject([
    { event: 'join', player: 'z' },
  ])
})

const observationOf = (state: LiveState): Observation => ({
  ...{ key: 'a', server: 'a', group: null, at: 2_000_000, now: 1_000_000, isPoll: true, state },
  ...{ error: null, tickRatio: undefined, trouble: null, record: () => undefined },
})
