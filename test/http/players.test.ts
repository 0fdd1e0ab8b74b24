import { expect, it } from 'vitest'
import { toPlayer } from '../../src/http/players.ts'

const shown = (name: string): string => toPlayer({ name }).NAME

it.each([
  ['Alice', 'Alice'],
  ['Some One, Zoë ☃ محمد', 'Some One, Zoë ☃ محمد'],
  ['§cBob\\', '§cBob\\'],
  ['A\u202elic\u0007e\n', 'A\\u202elic\\u0007e\\u000a'],
  ['\ud83dA\u{1f600}', '\\ud83dA\u{1f600}'],
  ['\u0085\u200f\u2028', '\\u0085\\u200f\\u2028'],
])('shows the name %j as %s', (name, expected) => expect(shown(name)).toBe(expected))

it('keeps different names different', () => {
  const names = ['A', 'A\u202e', 'A\u200e', 'A\\u202e', 'A\\u005cu202e', '\u202eA', '\0', '\\u0000']
  expect(new Set(names.map(shown))).toHaveLength(names.length)
})
