import { expect, it } from 'vitest'
import { applyPlayer, applyToFound } from '../../../src/web/client/player-list.ts'
import type { ServerDetails } from '../../../src/web/view/types.ts'

const player = (NAME: string) => ({ ID: '', NAME })
const names = (count: number) => Array.from({ length: count }, (_, index) => player(`p${index}`))
const details = (count: number, total = count) =>
  ({
    server: { name: 'a', state: { players: names(count) } },
    listed: { total, at: 1_000 },
    sessions: names(count).map((player) => ({ player, from: 500, to: null, isOnline: true })),
  }) as unknown as ServerDetails
const shown = ({ server, listed }: ServerDetails) => [
  server.state.players?.[0]?.NAME,
  server.state.players?.length,
  listed?.total,
]

it('adds a player who joins at the top of the list, which stays as short as it is', () => {
  const next = applyPlayer(details(100, 5_000), 'join', { at: 2_000, player: player('new') })
  expect(shown(next)).toEqual(['new', 100, 5_001])
  expect(next.sessions?.[0]).toEqual({ player: player('new'), from: 2_000, to: null, isOnline: true })
})

it('moves a player who leaves to the visits, shown or not', () => {
  const next = applyPlayer(details(2), 'leave', { at: 2_000, player: player('p0') })
  expect(shown(next)).toEqual(['p1', 1, 1])
  expect(next.sessions?.[0]).toEqual({ player: player('p0'), from: 500, to: 2_000, isOnline: false })
  expect(next.sessions).toHaveLength(2)
  expect(shown(applyPlayer(details(2, 5), 'leave', { at: 2_000, player: player('other') }))).toEqual(['p0', 2, 4])
})

it('adds no visit if none are recorded', () => {
  const next = applyPlayer({ ...details(2), sessions: null }, 'leave', { at: 2_000, player: player('p0') })
  expect([shown(next), next.sessions]).toEqual([['p1', 1, 1], null])
})

it('ignores what the list has already, and players whose list is unknown', () => {
  const before = details(2)
  expect(applyPlayer(before, 'join', { at: 1_001, player: player('p0') })).toBe(before)
  const unknown = { ...before, listed: null }
  expect(applyPlayer(unknown, 'join', { at: 2_000, player: player('new') })).toBe(unknown)
})

it('changes the result of a search only by players that it finds', () => {
  const found = { players: names(2), total: 2 }
  expect(applyToFound(found, 'P', 'join', { at: 0, player: player('Pia') })).toMatchObject({ total: 3 })
  expect(applyToFound(found, 'P', 'join', { at: 0, player: player('Zoe') })).toBe(found)
})
