import { expect, it } from 'vitest'
import { OnlinePlayers } from '../../../../src/game/sources/management/online-players.ts'

const named = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `player${index}` }))

function read(players: OnlinePlayers) {
  const { playersOnline, players: list } = players.read().fields
  return { playersOnline, listed: list?.players.length, complete: list?.complete }
}

it('counts the players above the maximum of the list, which is not complete then', () => {
  const players = new OnlinePlayers({ now: () => 0 })
  players.set(named(10_000))
  expect(read(players)).toEqual({ playersOnline: 10_000, listed: 10_000, complete: true })
  expect(players.joined({ name: 'Alice' })).toBe(true)
  expect(read(players)).toEqual({ playersOnline: 10_001, listed: 10_000, complete: false })
  players.set(named(12_000))
  expect(read(players)).toEqual({ playersOnline: 12_000, listed: 10_000, complete: false })
  expect(players.left({ name: 'player11999' })).toBe(true)
  expect(read(players)).toEqual({ playersOnline: 11_999, listed: 10_000, complete: false })
})
