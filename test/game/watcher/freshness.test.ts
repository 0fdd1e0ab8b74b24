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
