import { expect, it, onTestFinished, vi } from 'vitest'
import { GuardedSource } from '../../../src/game/sources/guarded-source.ts'
import { type Source, type SourceContext, unmeasured } from '../../../src/game/sources/source.ts'
import { SourceWatcher } from '../../../src/game/watcher/index.ts'
import { silentLog } from '../../../src/util/log.ts'
import { slowWorkOf } from '../../../src/util/slow-work.ts'
import { burnCpu } from '../../helpers/burn-cpu.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { scriptedSource } from '../../helpers/scripted-source.ts'

const settings = { interval: 5_000, timeout: 3_000, staleAfter: 15_000 }
const failed = { state: 'failed', error: { code: 'too_large', message: 'mc.test: its replies take too long to read' } }

/** A watched server with a status source whose replies are slow to read on demand, and one more source. */
function watch() {
  const clock = manualClock()
  const log = { ...silentLog, warn: vi.fn() }
  const toy = { isSlow: false, polls: 0, created: 0, closed: 0, read: () => {}, event: () => {} }
  const before = slowWorkOf('status')

  function create({ measure = unmeasured, push }: SourceContext): Source {
    toy.created++
    toy.read = () => measure(() => (toy.isSlow ? burnCpu() : undefined))
    toy.event = () => {
      toy.read()
      push({ source: 'status', at: clock.now(), fields: { motd: toy.isSlow ? 'slow event' : 'event' } })
    }
    return {
      name: 'status',
      target: 'mc.test',
      async poll() {
        toy.polls++
        toy.read()
        return { source: 'status', at: clock.now(), fields: { motd: `poll ${toy.polls}` } }
      },
      close: () => void toy.closed++,
    }
  }

  const query = scriptedSource('query', clock, { map: 'world' })
  const watcher = new SourceWatcher({
    ...{ server: 'Server', settings, clock, log, random: () => 0 },
    sources(push) {
      const context = { clock, log, random: () => 0, push }
      const list = [new GuardedSource({ server: 'Server', name: 'status', context, create }), query]
      return { list: () => list, close: () => list.forEach((source) => void source.close()) }
    },
  })
  onTestFinished(() => watcher.close())
  /** Polls once, after the interval. */
  async function poll() {
    await clock.advance(settings.interval)
    return watcher.poll()
  }
  const slowLines = () =>
    log.warn.mock.calls.filter(([, text]) => /reading a reply of status \(mc\.test\) took \d+ ms/.test(text))
  return { clock, toy, watcher, poll, slowLines, counted: () => slowWorkOf('status') - before }
}

it('rests after three slow replies in a row, for longer each time, and recovers', async () => {
  const { clock, toy, poll, slowLines, counted } = watch()
  toy.isSlow = true
  await poll()
  expect((await poll()).sources[0]).toMatchObject({ state: 'ok' })
  expect((await poll()).sources).toMatchObject([failed, { state: 'ok' }])
  expect(toy).toMatchObject({ polls: 3, created: 1, closed: 1 })

  // In the pause nothing is read, the other source is, and what was read before becomes stale.
  for (let count = 0; count < 5; count++) await poll()
  const resting = await poll()
  expect(resting).toMatchObject({ sources: [failed, { state: 'ok' }], fields: { map: { value: 'world' } } })
  expect(resting.fields.motd).toBeUndefined()
  expect(toy.polls).toBe(4)
  expect(toy).toMatchObject({ created: 2, closed: 2 })
  expect(counted()).toBe(4)
  expect(slowLines()).toHaveLength(1)

  // The second pause is twice as long.
  await clock.advance(30_000)
  await poll()
  expect(toy.polls).toBe(4)
  toy.isSlow = false
  await clock.advance(30_000)
  const recovered = await poll()
  expect(recovered).toMatchObject({ up: true, sources: [{ state: 'ok' }, {}], fields: { motd: { value: 'poll 5' } } })
  expect(toy.created).toBe(3)
})

it('does not rest while replies that are read fast come in between', async () => {
  const { toy, poll, counted } = watch()
  for (const isSlow of [true, true, false, true, true]) {
    toy.isSlow = isSlow
    expect((await poll()).sources[0]).toMatchObject({ state: 'ok' })
  }
  expect(counted()).toBe(4)
})

it('rests after slow events, too, and passes on no more of them', async () => {
  const { toy, poll, watcher } = watch()
  await poll()
  toy.isSlow = true
  for (let count = 0; count < 3; count++) toy.event()
  await Promise.resolve()
  expect(toy).toMatchObject({ polls: 1, closed: 1 })
  toy.isSlow = false
  const before = watcher.snapshot().fields.motd?.value
  toy.event()
  expect(watcher.snapshot().fields.motd?.value).toBe(before)
  expect((await poll()).sources[0]).toMatchObject(failed)
})
