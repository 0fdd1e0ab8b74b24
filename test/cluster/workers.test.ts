import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { startCountedServers } from '../helpers/counted-servers.ts'
import { type ListInApi, temporaryFolder } from '../helpers/discovering-service.ts'
import { openEvents } from '../helpers/event-client.ts'
import { type ServiceProcess, startService } from '../helpers/replica-process.ts'
import { until } from '../helpers/until.ts'

const workersOf = ({ child }: ServiceProcess): readonly number[] =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(child.pid)], { encoding: 'utf8' })
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0)
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
/** On a separate connection, which the next process in turn answers. */
const getOnce = (url: string) => fetch(url, { headers: { connection: 'close' } })

/** Runs an action for each worker while the others are suspended, so that it is the one that accepts connections. */
async function throughEach<T>(service: ServiceProcess, action: (worker: number) => Promise<T>): Promise<readonly T[]> {
  const workers = workersOf(service)
  const results: T[] = []
  for (const worker of workers) {
    const others = workers.filter((other) => other !== worker)
    for (const other of others) process.kill(other, 'SIGSTOP')
    try {
      results.push(await action(worker))
    } finally {
      for (const other of others) process.kill(other, 'SIGCONT')
    }
  }
  return results
}

describe('WORKERS', () => {
  it('serve the servers that one process polls, and are replaced when they exit', async () => {
    const servers = await startCountedServers(3)
    const list = servers.addresses.map((address, index) => `  - { name: s${index}, address: "${address}" }\n`).join('')
    const env = { WORKERS: '2', POLL_INTERVAL: '500ms', STALE_AFTER: '10s', TRUST_PROXY: 'loopback' }
    const service = await startService('workers', `servers:\n${list}`, env)
    const { url } = service
    await until(() => servers.pollersSince(0).size === 3)
    await until(async () => (await getOnce(`${url}/readyz`)).ok)

    const from = { at: performance.now(), polls: servers.polls.length }
    await until(() => performance.now() - from.at > 2_000)
    const intervals = (performance.now() - from.at) / 500
    // The pause between two polls is up to a tenth shorter.
    expect((servers.polls.length - from.polls) / 3).toBeLessThan(intervals / 0.9 + 1)

    const before = workersOf(service)
    expect(before).toHaveLength(2)
    const streams = await throughEach(service, () => openEvents(`${url}/api/v1/events`))
    await until(() => streams.every(({ events }) => events.length >= 3))
    await until(async () => (await service.metric('tickwarden_event_clients')) === 2)
    const ended = new Set<number>()
    for (const [index, stream] of streams.entries()) void stream.ended.then(() => ended.add(index))
    const hasPlayers = async () => /"mean":\[[^\]]*\d/.test(await (await getOnce(`${url}/api/v1/history?range=1h`)).text())
    await until(hasPlayers)
    for (let index = 0; index < 10; index++) expect((await getOnce(`${url}/api/v1/getall`)).status).toBe(200)
    const counted = async () => {
      const text = await (await getOnce(`${url}/metrics`)).text()
      return Number(/^http_request_duration_seconds_count\{method="GET",route="\/api\/v1\/getall",.*\} (\d+)$/m.exec(text)?.[1])
    }
    await until(async () => (await counted()) === 10)

    process.kill(before[0]!, 'SIGKILL')
    await until(() => ended.size === 1)
    await until(() => workersOf(service).length === 2 && !workersOf(service).includes(before[0]!))
    await until(() => (service.output().match(/A worker is ready/g)?.length ?? 0) === 3)
    // Also the one that has just started.
    await throughEach(service, async () => {
      expect((await getOnce(`${url}/api/v1/servers/s2/getall`)).status).toBe(200)
      expect(await hasPlayers()).toBe(true)
    })
    expect(await counted()).toBe(10)
    expect(ended.size).toBe(1)
    expect((await getOnce(`${url}/v1/run`)).status).toBe(200)
    // However its path is written.
    expect(await (await getOnce(`${url}/%6detrics`)).text()).toMatch(
      /^http_request_duration_seconds_count\{.*"\/api\/v1\/getall"/m,
    )
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
    expect(await (await getOnce(`${url}/probe?target=s1`)).text()).toMatch(/^probe_success 1$/m)
    expect(await (await getOnce(`${url}/sd`)).json()).toHaveLength(3)

    // The prefix of a trusted proxy, and no other path.
    const instance = async (prefix: string) => {
      const reply = await fetch(`${url}/v1/run/nothing`, { headers: { 'x-forwarded-prefix': prefix } })
      return ((await reply.json()) as { instance: string }).instance
    }
    expect(await instance('/mc')).toBe('/mc/v1/run/nothing')
    expect(await instance('//mc')).toBe('/v1/run/nothing')

    const after = workersOf(service)
    service.child.kill('SIGTERM')
    expect(await service.exit).toBe(0)
    await until(() => !after.some(isRunning))
  })

  it('update the servers in every process', async () => {
    const folder = temporaryFolder()
    const list = join(folder, 'targets.json')
    const groups = (...names: readonly string[]) =>
      JSON.stringify(names.map((name) => ({ targets: ['127.0.0.1:1'], labels: { name } })))
    writeFileSync(list, groups('a', 'b'))
    const service = await startService('workers', undefined, { WORKERS: '2', POLL_INTERVAL: '1s', DISCOVERY_FILE_SD: list })
    const inEach = async (hasIt: () => Promise<boolean>) => (await throughEach(service, hasIt)).every((value) => value)
    const get = async (path: string) => (await getOnce(service.url + path)).json()
    const lists = async () => ((await get('/api/v1/sources')) as { discovery: readonly ListInApi[] }).discovery
    const hasNames = (...names: readonly string[]) =>
      until(() => inEach(async () => isDeepStrictEqual(await get('/api/v1/servers'), names)))
    const isState = (provider: string, state: string) =>
      until(() => inEach(async () => (await lists()).some((list) => list.provider === provider && list.state === state)))

    await isState('file_sd', 'ok')
    writeFileSync(list, groups('a', 'c'))
    await hasNames('a', 'c')
    writeFileSync(list, '[')
    await isState('file_sd', 'failed')
    await hasNames('a', 'c')

    const [worker = 0] = workersOf(service)
    process.kill(worker, 'SIGHUP')
    service.child.kill('SIGHUP')
    await until(() => service.output().includes('SIGHUP: reading the configuration again'))
    expect(workersOf(service)).toContain(worker)
  }, 40_000)

  it('answer from memory while the primary process is suspended, and are not healthy', async () => {
    const servers = await startCountedServers(1)
    const env = { WORKERS: '2', MC_SERVER: servers.addresses[0] ?? '', POLL_INTERVAL: '500ms', STALE_AFTER: '8s' }
    const service = await startService('workers', undefined, env)
    const status = async (path: string) => (await getOnce(service.url + path)).status
    const statuses = async (path: string) => (await throughEach(service, () => status(path))).join()
    await until(async () => (await statuses('/readyz')) === '200,200')
    expect(await statuses('/healthz')).toBe('200,200')

    service.child.kill('SIGSTOP')
    // A reply that only the primary process can give ends in bounded time.
    const pending = getOnce(`${service.url}/metrics`)
    const reply = await getOnce(`${service.url}/api/v1/getall`)
    expect(reply.status).toBe(200)
    const age = Number(reply.headers.get('x-snapshot-age'))
    await until(async () => (await statuses('/readyz')) === '503,503')
    expect((await pending).status).toBe(503)
    expect(await (await getOnce(`${service.url}/readyz`)).text()).toContain('the primary process, which does not respond')
    for (const path of ['/healthz', '/metrics', '/v1/run', '/sd']) expect(await statuses(path), path).toBe('503,503')
    const later = await getOnce(`${service.url}/api/v1/getall`)
    if (later.ok) expect(Number(later.headers.get('x-snapshot-age'))).toBeGreaterThan(age)
    await until(async () => (await statuses('/api/v1/getall')) === '503,503')

    service.child.kill('SIGCONT')
    for (const path of ['/readyz', '/healthz', '/metrics', '/api/v1/getall'])
      await until(async () => (await statuses(path)) === '200,200')
    expect(service.output().match(/"The primary process does not respond/g)).toHaveLength(2)
    expect(service.output().match(/"The primary process responds again/g)).toHaveLength(2)
  })

  it('refuse to start scripts for a request line with a whole URL', async () => {
    const { url } = await startService('workers', undefined, { WORKERS: '2' })
    const { port } = new URL(url)
    const statusOf = (path: string) =>
      new Promise((resolve, reject) => {
        request({ host: '127.0.0.1', port, path, agent: false }, (reply) => resolve(reply.resume().statusCode))
          .once('error', reject)
          .end()
      })
    expect(await statusOf('/v1/run')).toBe(200)
    expect(await statusOf(`${url}/v1/run`)).toBe(403)
    expect(await statusOf(`${url}/metrics`)).toBe(200)
  })

  it('exit with the primary process, and with an error if they cannot listen', async () => {
    const folder = temporaryFolder()
    const service = await startService('workers', undefined, { WORKERS: '2', TMPDIR: folder })
    const workers = workersOf(service)
    service.child.kill('SIGKILL')
    await until(() => !workers.some(isRunning))

    // What it leaves behind is removed at a later start.
    const [left = ''] = readdirSync(folder)
    const before = new Date(Date.now() - 120_000)
    utimesSync(join(folder, left), before, before)
    await startService('workers', undefined, { WORKERS: '2', TMPDIR: folder })
    expect(readdirSync(folder)).toHaveLength(1)
    expect(readdirSync(folder)).not.toContain(left)

    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    await expect(startService('workers', undefined, { WORKERS: '2', PORT: String(port) })).rejects.toThrow(
      `127.0.0.1:${port} is already in use by another program`,
    )
    taken.close()
  })
})
