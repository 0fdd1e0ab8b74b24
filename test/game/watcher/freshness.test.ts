import { expect, it } from 'vitest'
import { Freshness } from '../../../src/game/watcher/freshness.ts'

const staleAfter = 15_000
const sources = [{ name: 'status' }, { name: 'rcon' }, { name: 'management' }] as const
const fieldsOf = (freshness: Freshness) => Object.assign({}, ...freshness.readings().map(({ fields }) => fields))

it('drops a field when it is stale, and returns when the next one will be', () => {
  const freshness = new Freshness(staleAfter)
  freshness.addPolled({ source: 'rcon', at: 10_000, fields: { motd: 'Hi', playersOnline: 3 }, readAt: { playersOnline: 2_000 } })
  expect(freshness.expire(16_999, sources)).toBe(17_000)
  expect(fieldsOf(freshness)).toEqual({ motd: 'Hi', playersOnline: 3 })
  expect(freshness.expire(17_000, sources)).toBe(25_000)
  expect(fieldsOf(freshness)).toEqual({ motd: 'Hi' })
  expect(freshness.expire(25_000, sources)).toBe(Number.POSITIVE_INFINITY)
  expect(fieldsOf(freshness)).toEqual({})
})

it('keeps a field that is read less often until it is read again, but not longer than its source', () => {
  const freshness = new Freshness(staleAfter)
  const reading = { source: 'rcon', fields: { difficulty: 'hard' }, readAt: { difficulty: 0 }, readEvery: { difficulty: 60_000 } }
  freshness.addPolled({ ...reading, source: 'rcon', at: 50_000 })
  expect(freshness.expire(64_999, sources)).toBe(65_000)
  freshness.addPolled({ ...reading, source: 'rcon', at: 70_000 })
  expect(freshness.expire(74_999, sources)).toBe(75_000)
  freshness.expire(75_000, sources)
  expect(fieldsOf(freshness)).toEqual({})
})

it('keeps the time of pushed fields: an event does not extend older values', () => {
  const freshness = new Freshness(staleAfter)
  freshness.addPolled({ source: 'management', at: 0, fields: { motd: 'Hi', difficulty: 'hard' } })
  freshness.addPushed({ source: 'management', at: 5_000, fields: { motd: 'Hello' } })
  freshness.addPushed({ source: 'management', at: 10_000, fields: { playersOnline: 1 } })
  freshness.expire(15_000, sources)
  expect(fieldsOf(freshness)).toEqual({ motd: 'Hello', playersOnline: 1 })
  freshness.expire(20_000, sources)
  expect(fieldsOf(freshness)).toEqual({ playersOnline: 1 })
})

it('drops fields read up to a given time, even if the source returns them again, except for kept sources', () => {
  const freshness = new Freshness(staleAfter, (source) => source === 'status')
  freshness.addPolled({ source: 'status', at: 5_000, fields: { motd: 'Hi' } })
  freshness.addPolled({ source: 'rcon', at: 5_000, fields: { difficulty: 'hard' } })
  freshness.dropUntil(5_000)
  freshness.expire(6_000, sources)
  expect(fieldsOf(freshness)).toEqual({ motd: 'Hi' })
  const fields = { difficulty: 'hard', playersOnline: 3 } as const
  freshness.addPolled({ source: 'rcon', at: 7_000, fields, readAt: { difficulty: 5_000 } })
  freshness.expire(7_000, sources)
  expect(fieldsOf(freshness)).toEqual({ motd: 'Hi', playersOnline: 3 })
})

it('keeps all fields of a server that is down until a given time, and none of a removed source', () => {
  const freshness = new Freshness(staleAfter)
  freshness.addPolled({ source: 'status', at: 0, fields: { motd: 'Hi' } })
  freshness.addPolled({ source: 'rcon', at: 0, fields: { difficulty: 'hard' } })
  expect(freshness.expire(18_000, [{ name: 'status' }], 20_000)).toBe(20_000)
  expect(fieldsOf(freshness)).toEqual({ motd: 'Hi' })
})

it('keeps one reading of each source, the last one', () => {
  const freshness = new Freshness(staleAfter)
  for (const at of [0, 1_000, 2_000]) freshness.addPolled({ source: 'rcon', at, fields: { motd: `at ${at}` } })
  freshness.addPolled({ source: 'status', at: 2_000, fields: { difficulty: 'hard' } })
  expect(freshness.readings().map(({ source, at }) => `${source} ${at}`)).toEqual(['rcon 2000', 'status 2000'])
  freshness.addPushed({ source: 'rcon', at: 3_000, fields: { motd: 'pushed' } })
  freshness.addPushed({ source: 'rcon', at: 4_000, fields: { playersOnline: 1 } })
  expect(freshness.readings().map(({ source, at }) => `${source} ${at}`)).toEqual(['rcon 2000', 'rcon 4000', 'status 2000'])
  freshness.addPolled({ source: 'rcon', at: 5_000, fields: {} })
  expect(fieldsOf(freshness)).toEqual({ difficulty: 'hard' })
})

it('has the source and time of a reading that was pushed before the first poll', () => {
  const freshness = new Freshness(staleAfter)
  freshness.addPushed({ source: 'rcon', at: 3_000, fields: { motd: 'pushed' } })
  expect(freshness.readings()).toEqual([
    { source: 'rcon', at: 3_000, fields: {} },
    { source: 'rcon', at: 3_000, fields: { motd: 'pushed' } },
  ])
  freshness.expire(4_000, [{ name: 'rcon' }])
  expect(fieldsOf(freshness)).toEqual({ motd: 'pushed' })
})

it('drops what was read until a time, of every source unless it is kept', () => {
  for (const isKept of [undefined, (source: string) => source === 'status']) {
    const freshness = new Freshness(staleAfter, isKept)
    freshness.addPolled({ source: 'status', at: 1_000, fields: { motd: 'Hi' } })
    freshness.addPolled({ source: 'rcon', at: 1_001, fields: { playersOnline: 1 } })
    freshness.dropUntil(1_000)
    freshness.expire(2_000, sources)
    expect(fieldsOf(freshness)).toEqual(isKept ? { motd: 'Hi', playersOnline: 1 } : { playersOnline: 1 })
  }
})
