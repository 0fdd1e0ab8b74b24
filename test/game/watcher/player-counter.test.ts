import { expect, it } from 'vitest'
import type { Fields } from '../../../src/game/fields.ts'
import { merge } from '../../../src/game/merge.ts'
import type { SourceName } from '../../../src/game/sources/names.ts'
import { PlayerCounter } from '../../../src/game/watcher/player-counter.ts'

/** Feeds the snapshots to a counter, and returns the final counts. */
function count(...seen: readonly (readonly [SourceName, Partial<Fields>])[][]) {
  const counter = new PlayerCounter()
  for (const readings of seen) counter.update(merge(readings.map(([source, fields]) => ({ source, at: 0, fields }))))
  return counter.counts()
}
const list = (names: string, complete = true) => ({ players: { players: names.split('').map((name) => ({ name })), complete } })
const log = (logJoins: number, logLeaves: number) => ({ logJoins, logLeaves })

it('counts the differences of full lists; players online at the start have not joined', () => {
  expect(count([['management', list('AB')]], [['management', list('ABC')]], [['management', list('C')]])).toEqual({
    joins: 1,
    leaves: 2,
  })
  expect(count([['management', list('AB')]])).toEqual({ joins: 0, leaves: 0 })
})

it('counts nothing from a status sample', () => {
  expect(count([['status', list('AB', false)]], [['status', list('CD', false)]])).toStrictEqual({})
  expect(count([['status', list('')]], [['status', list('')]])).toStrictEqual({})
})

it('counts joins of a log that tells no leaves', () => {
  expect(count([['directory', { logJoins: 1 }]], [['directory', { logJoins: 3 }]])).toStrictEqual({ joins: 3, leaves: 0 })
})

it('counts no player twice if a source without ids takes over', () => {
  const withIds = { players: { players: [{ name: 'A', id: 'ec561538-f3fd-461d-aff5-086b22154bce' }], complete: true } }
  expect(count([['management', withIds]], [['query', list('A')]], [['management', withIds]])).toEqual({ joins: 0, leaves: 0 })
})

it('counts from the log if there is no full list, also after the log was replaced or missing', () => {
  expect(count([['directory', log(0, 0)]], [['directory', log(3, 1)]])).toEqual({ joins: 3, leaves: 1 })
  expect(count([['directory', log(5, 2)]], [['directory', log(0, 0)]], [['directory', log(1, 0)]])).toEqual({
    joins: 6,
    leaves: 2,
  })
  expect(count([['directory', log(5, 2)]], [], [['directory', log(5, 2)]])).toEqual({ joins: 5, leaves: 2 })
})

it('counts no join twice when the list and the log alternate', () => {
  const both = (names: string, joins: number) =>
    [
      ['management', list(names)],
      ['directory', log(joins, 0)],
    ] as const
  expect(count([...both('A', 0)], [...both('AB', 1)], [['directory', log(2, 0)]])).toEqual({ joins: 2, leaves: 0 })
  expect(
    count([['management', list('A')]], [['management', list('AB')]], [['directory', log(7, 0)]], [['directory', log(8, 0)]]),
  ).toEqual({
    joins: 2,
    leaves: 0,
  })
})
