import { expect, it } from 'vitest'
import { gameModes, parseGameMode } from '../../../src/game/protocol/game-mode.ts'

it.each(gameModes)('%s is a game mode in any case', (mode) => {
  expect([parseGameMode(mode), parseGameMode(mode.toLowerCase())]).toEqual([mode, mode])
})

it.each(['', 'SURVIVAL ', 'hardcore', 0, null, undefined, ['CREATIVE']])('%j is none', (value) =>
  expect(parseGameMode(value)).toBeUndefined(),
)
