import { expect, it } from 'vitest'
import { toPlayerName } from '../../../src/game/protocol/player.ts'

it.each([
  ['Alice', 'Alice'],
  ['Some One, Zoë ☃ محمد', 'Some One, Zoë ☃ محمد'],
  ['§cBob\\', '§cBob\\'],
  ['A\u202elic\u0007e\n', 'A\\u202elic\\u0007e\\u000a'],
  ['\ud83dA\u{1f600}', '\\ud83dA\u{1f600}'],
  ['\u0085\u200f\u2028', '\\u0085\\u200f\\u2028'],
])('shows %j as %s', (name, shown) => expect(toPlayerName(name)).toBe(shown))

it('keeps different names different', () => {
  const names = ['A', 'A\u202e', 'A\u200e', 'A\\u202e', 'A\\u005cu202e', '\u202eA', '\0', '\\u0000']
  expect(new Set(names.map(toPlayerName))).toHaveLength(names.length)
})
