import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bundleChild } from './helpers/bundle-child.ts'
import { startCountedServers } from './helpers/counted-servers.ts'
import { startService } from './helpers/replica-process.ts'
import { until } from './helpers/until.ts'

const honestCount = 50
const intervalMs = 3_000
/** Longer than a busy machine delays a request; one reply once took 29 s to read. */
const maxWaitMs = 15_000
const maxMemory = 700_000_000

it('a fleet of hostile servers does not delay the service and the polls of the others', async () => {
  const child = fork(await bundleChild(join(import.meta.dirname, 'helpers', 'hostile-child.ts')))
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const [ports] = (await once(child, 'message')) as [readonly number[]]
  expect(ports.length).toBeGreaterThanOrEqual(50)
  const acceptedByEach = async () => {
    const reply = once(child, 'message')
    child.send('')
    return Number((await reply)[0])
  }
  const honest = await startCountedServers(honestCount)
  const servers = [...honest.addresses, ...ports.map((port) => `127.0.0.1:${port}`)].map(
    (address, index) => `  - { name: s${index}, address: "${address}" }\n`,
  )
  const config = `poll: { interval: ${intervalMs}ms, timeout: ${intervalMs}ms }\nservers:\n${servers.join('')}`
  const service = await startService('service', config, {})
  const honestPolls = () =>
    honest.addresses.map((_, index) => honest.polls.filter(({ server }) => server === index).map(({ at }) => at))

  const waits: number[] = []
  const request = async (path: string) => {
    const started = performance.now()
    const response = await service.get(path)
    await response.arrayBuffer()
    expect([path, response.status]).toEqual([path, 200])
    waits.push(performance.now() - started)
  }
  await until(() => honestPolls().every(({ length }) => length > 0))
  await until(async () => {
    await Promise.all([request('/healthz'), request('/api/v1/getall')])
    return (await acceptedByEach()) >= 3 && honestPolls().every(({ length }) => length >= 4)
  })

  expect(Math.max(...waits)).toBeLessThan(maxWaitMs)
  const gaps = honestPolls().flatMap((times) => times.slice(1).map((at, index) => at - times[index]!))
  expect(Math.max(...gaps)).toBeLessThan(intervalMs + maxWaitMs)
  // By processor time, which other work on the machine does not change. A few for garbage collections.
  const slow = /^tickwarden_slow_work_total\{part="status"\} (\d+)$/m.exec(await (await service.get('/metrics')).text())?.[1]
  expect(Number(slow)).toBeLessThan(5)
  expect(await service.metric('process_resident_memory_bytes')).toBeLessThan(maxMemory)
}, 120_000)
