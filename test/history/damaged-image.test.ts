import { expect, it } from 'vitest'
import { createRecordedServer } from '../../src/history/recorded-server.ts'
import { silentLog } from '../../src/log.ts'
import { testPoll } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { runningServer } from '../helpers/running-server.ts'

const patterns = [
  Buffer.alloc(8, 0xff),
  Buffer.alloc(8),
  Buffer.from('000000000000f07f', 'hex'),
  Buffer.from('ffffffffffffef7f', 'hex'),
]

it('hands on no wrong values of a damaged history, and never throws', async () => {
  const clock = manualClock(1_000)
  const options = { ...testPoll, clock, log: silentLog }
  const original = createRecordedServer(options)
  const players = { players: [{ name: 'Steve' }, { name: 'Alex' }], complete: true }
  for (let poll = 0; poll < 100; poll++) {
    const list = poll % 10 === 0 ? { ...players, players: [] } : players
    original.observe({
      ...runningServer,
      fields: { playersOnline: { value: poll, source: 'status' }, players: { value: list, source: 'rcon' } },
    })
    await clock.advance(5_000)
  }
  const image = original.image()
  for (let at = 0; at + 8 <= image.length; at += 4) {
    for (const pattern of patterns) {
      const damaged = Buffer.from(image)
      pattern.copy(damaged, at)
      const server = createRecordedServer({ ...options, loadImage: async () => damaged })
      await server.load()
      for (const { from = 0, to = 0, name } of server.sessions.list()) {
        expect(typeof name).toBe('string')
        expect(() => [new Date(from).toISOString(), new Date(to).toISOString()]).not.toThrow()
      }
      const { since = 0, record } = server.current()
      expect(() => [new Date(since).toISOString(), new Date(record?.at ?? 0).toISOString()]).not.toThrow()
      expect(Number.isFinite(record?.players ?? 0)).toBe(true)
      server.observe(runningServer)
      expect(server.image().length).toBeGreaterThan(0)
    }
  }
})
