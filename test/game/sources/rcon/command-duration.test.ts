import { expect, it } from 'vitest'
import { CommandDuration } from '../../../../src/game/sources/rcon/command-duration.ts'

it('allows any command before the first measurement, but none without remaining time', () => {
  const duration = new CommandDuration()
  expect(duration.fits(1)).toBe(true)
  expect(duration.fits(0)).toBe(false)
})

it('lets only commands be sent that end in time, with a margin', () => {
  const duration = new CommandDuration()
  duration.measured(1_000)
  expect(duration.fits(1_050)).toBe(false)
  expect(duration.fits(1_200)).toBe(true)
})

it('forgets a single slow reply within a few commands', () => {
  const duration = new CommandDuration()
  duration.measured(2_500)
  for (let reply = 0; reply < 5; reply++) duration.measured(10)
  expect(duration.fits(500)).toBe(true)
})
