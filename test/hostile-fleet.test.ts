import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bundleChild } from './helpers/bundle-child.ts'
import { startCountedServers } from './helpers/counted-servers.ts'
import { startService } from './helpers/replica-process.ts'
import { until } from './helpers/until.ts'

const honestCount = 400
const hostileCount = 100
const intervalMs = 3_000
const maxMemory = 700_000_000

it('100 hostile servers of 500 do not delay the service and the polls of the others', async () => {
  const child = fork(await bundleChild(join(import.meta.dirname, 'helpers', 'hostile-child.ts')))
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const [ports] = (await once(child, 'message')) as [readonly number[]]
  expect(ports).toHaveLength(hostileCount)
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
  const counts = honest.addresses.map(() => 0)
  let [counted, aheadOfOthers] = [0, 0]
  /** Counts the new polls of each, and how far one was ever ahead of another: a late poll is one that others did not wait for. */
  const countPolls = () => {
    for (; counted < honest.polls.length; counted++) counts[honest.polls[counted]!.server]!++
    aheadOfOthers = Math.max(aheadOfOthers, Math.max(...counts) - Math.min(...counts))
    return Math.min(...counts)
  }

  const statusOf = async (path: string) => {
    const response = await service.get(path)
    await response.arrayBuffer()
    return response.status
  }
  await until(() => countPolls() > 0)
  await until(async () => {
    const [health, primary] = await Promise.all([statusOf('/healthz'), statusOf('/api/v1/getall')])
    expect(health).toBe(200)
    // 503: on a busy machine, the last poll of the first server may have taken longer than its deadline.
    expect([200, 503]).toContain(primary)
    return primary === 200 && (await acceptedByEach()) >= 3 && countPolls() >= 4
  })

  // One poll each, and the jitter of a tenth of the interval, of which the longer run of a busy machine has more.
  expect(aheadOfOthers).toBeLessThanOrEqual(Math.max(2, Math.ceil(Math.max(...counts) / 4)))
  // By processor time, which other work on the machine does not change. A few for garbage collections.
  const slow = /^tickwarden_slow_work_total\{part="status"\} (\d+)$/m.exec(await (await service.get('/metrics')).text())?.[1]
  expect(Number(slow)).toBeLessThan(5)
  expect(await service.metric('process_resident_memory_bytes')).toBeLessThan(maxMemory)
})
