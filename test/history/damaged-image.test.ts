import { expect, it } from 'vitest'
import type { HistoryFile } from '../../src/history/file.ts'
import { frameKinds } from '../../src/history/frames.ts'
import { createRecordedServer } from '../../src/history/recorded-server.ts'
import { silentLog } from '../../src/util/log.ts'
import { testPoll } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { runningServer } from '../helpers/running-server.ts'

const patterns = [
  Buffer.alloc(8, 0xff),
  Buffer.alloc(8),
  Buffer.from('000000000000f07f', 'hex'),
  Buffer.from('ffffffffffffef7f', 'hex'),
]

/** A file with this image. @param rewritten called with each new image */
const fileOf = (image: Buffer | undefined, rewritten: (image: Buffer) => void = () => {}): HistoryFile => ({
  path: 'survival',
  canAppend: false,
  hasGrown: false,
  async load(found) {
    if (image !== undefined) found(frameKinds.image, image)
    return undefined
  },
  async append() {},
  rewrite: async (next) => rewritten(next),
})

it('hands on no wrong values of a damaged history, and never throws', async () => {
  const clock = manualClock(1_000)
  const options = { ...testPoll, clock, log: silentLog }
  let image: Buffer = Buffer.alloc(0)
  const file = fileOf(undefined, (written) => {
    image = written
  })
  const original = createRecordedServer({ ...options, file })
  const players = { players: [{ name: 'Steve' }, { name: 'Alex' }], complete: true }
  for (let poll = 0; poll < 100; poll++) {
    const list = poll % 10 === 0 ? { ...players, players: [] } : players
    original.observe({
      ...runningServer,
      fields: { playersOnline: { value: poll, source: 'status' }, players: { value: list, source: 'rcon' } },
    })
    await clock.advance(5_000)
  }
  await original.tidy()
  expect(image.length).toBeGreaterThan(100)
  for (let at = 0; at + 8 <= image.length; at += 4) {
    for (const pattern of patterns) {
      const damaged = Buffer.from(image)
      pattern.copy(damaged, at)
      const server = createRecordedServer({ ...options, file: fileOf(damaged) })
      await server.load()
      for (const { from = 0, to = 0, name } of server.sessions.list()) {
        expect(typeof name).toBe('string')
        expect(() => [new Date(from).toISOString(), new Date(to).toISOString()]).not.toThrow()
      }
      const { since = 0, record } = server.current()
      expect(() => [new Date(since).toISOString(), new Date(record?.at ?? 0).toISOString()]).not.toThrow()
      expect(Number.isFinite(record?.players ?? 0)).toBe(true)
      server.observe(runningServer)
      await server.tidy()
    }
  }
})
