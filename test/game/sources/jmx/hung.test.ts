import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { Fields } from '../../../../src/game/fields.ts'
import { createJmxSource } from '../../../../src/game/sources/jmx/index.ts'
import { SourceWatcher } from '../../../../src/game/watcher/index.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { scriptedSource } from '../../../helpers/scripted-source.ts'

/** A server whose agent returns a ring of ticks that take 50 ms and a few nanoseconds. */
async function watchServer(fields: Partial<Fields>) {
  const clock = manualClock()
  let ticks = 0
  const agent = createServer((_, reply) => {
    const tickTimes = Array.from({ length: 100 }, (_, index) => 50_000_000 + Math.floor((ticks + 99 - index) / 100))
    const value = (value: unknown) => ({ status: 200, value })
    reply.end(JSON.stringify([value({ tickTimes }), value({}), value({}), value({ ThreadCount: 9 })]))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => agent.once('listening', resolve))
  const { port } = agent.address() as AddressInfo
  const own = { clock, log: silentLog, random: () => 0, push() {} }
  const status = scriptedSource('status', clock, fields)
  const jmx = createJmxSource({ url: `http://127.0.0.1:${port}/jolokia` }, own)
  const watcher = new SourceWatcher({
    server: 'Server',
    settings: { interval: 5_000, timeout: 3_000, staleAfter: 15_000 },
    ...own,
    sources: () => ({ list: () => [status, jmx], close() {} }),
  })
  onTestFinished(() => {
    watcher.close()
    agent.close()
  })
  /** Polls after a time in which the server has run so many ticks. */
  const poll = async (milliseconds: number, newTicks: number) => {
    ticks += newTicks
    await clock.advance(milliseconds)
    const { up, fields, mainThread } = await watcher.poll()
    return { up, responsive: mainThread?.responsive, mean: fields.tickDurationMean && 50, threads: fields.jvmThreads?.value }
  }
  return { poll, status }
}

const running = { up: true, responsive: true, mean: 50, threads: 9 }
const hung = { up: true, responsive: false, mean: undefined, threads: 9 }

it('a server whose ring of ticks does not change hangs until it changes', async () => {
  const { poll } = await watchServer({ playersOnline: 3 })
  expect(await poll(0, 5_000)).toEqual({ ...running, responsive: undefined })
  expect(await poll(5_000, 100)).toEqual(running)
  expect(await poll(5_000, 0)).toEqual(hung)
  expect(await poll(1_200_000, 0)).toEqual(hung)
  expect(await poll(5_000, 1)).toEqual(running)
})

it('a server that is polled more than once per tick does not hang', async () => {
  const { poll } = await watchServer({ playersOnline: 3 })
  await poll(0, 100)
  expect(await poll(500, 10)).toEqual(running)
  expect(await poll(40, 0)).toEqual(running)
  expect(await poll(500, 0)).toEqual(running)
})

it.each<[string, Partial<Fields>]>([
  ['empty', { playersOnline: 0 }],
  ['empty, with the setting to pause,', { playersOnline: 0, pauseWhenEmpty: 60 }],
])('a server that is %s may be paused: its tick times are unknown, but it does not hang', async (_, fields) => {
  const { poll } = await watchServer(fields)
  await poll(0, 100)
  expect(await poll(5_000, 100)).toEqual(running)
  expect(await poll(20_000, 0)).toEqual({ ...hung, responsive: undefined })
})
