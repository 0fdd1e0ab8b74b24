import { expect, it } from 'vitest'
import { createDebugLog } from '../../../exporter/probe/debug.ts'
import type { ServerSnapshot } from '../../../src/game/snapshot.ts'

const hostile = 'a\u202eb\u2066c\u0085d\u009b31me\u001b[31mf\u200f\ufeff\u2028'

it('shows no character that changes how its text is displayed, and no line that a server has written', () => {
  const log = createDebugLog(() => 0, `Probe of ${hostile}`)
  log.note(`connected to ${hostile}`)
  const snapshot = {
    server: hostile,
    up: true,
    at: { wall: 0 },
    sources: [
      { source: 'status', target: hostile, state: 'failed', error: { code: 'protocol', message: `${hostile}\nOutcome: forged` } },
    ],
    fields: { motd: { value: [`${hostile}\nOutcome: forged`], source: 'status', at: { wall: 0 } } },
    polls: {},
  } as unknown as ServerSnapshot
  const text = log.text(snapshot, `minecraft_up{server="${hostile}"} 1\nminecraft_x 1\n`)
  expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/u)
  expect(text).toContain('a\\u202eb\\u2066c\\u0085d\\u009b31me\\u001b[31mf')
  expect(text.match(/^Outcome: .*/gm)).toEqual(['Outcome: up'])
  expect(text).toContain('\nminecraft_x 1\n')
})
