import { describe, expect, it } from 'vitest'
import { type Network, systemNetwork } from '../../../../src/game/network.ts'
import { StatusSource } from '../../../../src/game/sources/status/index.ts'
import { SourceWatcher } from '../../../../src/game/watcher/index.ts'
import type { ServerAddress } from '../../../../src/util/address.ts'
import { type Clock, systemClock } from '../../../../src/util/clock.ts'
import type { Log } from '../../../../src/util/log.ts'
import { hostile, hostileServer } from '../../../helpers/hostile-servers.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { encodeStatus } from '../../../helpers/status-packets.ts'

/** Milliseconds, if the poll ends at its deadline. */
const timeout = 400

/** @param deadline default: one that does not pass within the test */
function watch(
  address: ServerAddress,
  {
    network = systemNetwork,
    deadline = 60_000,
    clock = systemClock,
  }: { network?: Network; deadline?: number; clock?: Clock } = {},
) {
  const warnings: string[] = []
  const log: Log = { debug() {}, info() {}, error() {}, warn: (...args: unknown[]) => void warnings.push(String(args.at(-1))) }
  const watcher = new SourceWatcher({
    server: 'hostile',
    settings: { interval: 120_000, timeout: deadline, staleAfter: 360_000 },
    clock: systemClock,
    log,
    random: () => 0,
    sources(push) {
      const source = new StatusSource(address, { clock, log, random: () => 0, push, network })
      return { list: () => [source], close: () => source.close() }
    },
  })
  return { watcher, warnings, [Symbol.dispose]: () => watcher.close() }
}

const usedMemory = () => {
  const { heapUsed, arrayBuffers, external } = process.memoryUsage()
  return heapUsed + arrayBuffers + external
}

describe('a server that', () => {
  it.each(Object.entries(hostile))('%s', async (_, { behave, code }) => {
    await using server = await hostileServer(behave)
    const address = { edition: 'java', host: '127.0.0.1', port: server.port } as const
    using watched = watch(address, code === 'timeout' ? { deadline: timeout } : {})
    const { watcher, warnings } = watched
    const memory = usedMemory()
    const cpu = process.cpuUsage()
    for (let poll = 1; poll <= 3; poll++) {
      const snapshot = await watcher.poll()
      expect(snapshot.up).toBe(false)
      expect(snapshot.sources[0]?.error).toMatchObject({ code, message: expect.stringContaining(`127.0.0.1:${server.port}`) })
      expect(snapshot.polls).toEqual({ [code]: poll })
    }
    expect(warnings).toEqual([expect.stringContaining(`(${code})`)])
    await expect.poll(server.open).toBe(0)
    const { user, system } = process.cpuUsage(cpu)
    expect((user + system) / 1_000).toBeLessThan(5_000)
    expect(usedMemory() - memory).toBeLessThan(120_000_000)
  })

  it.each([
    ['leaves out everything', '{}', { edition: 'java' }],
    ['leaves out players', '{"version":{"name":"1.20.4","protocol":765},"description":"x"}', { version: '1.20.4', motd: 'x' }],
    ['leaves out version', '{"players":{"max":5,"online":2}}', { playersOnline: 2, playersMax: 5 }],
    ['leaves out description', '{"version":{"name":"1.8.8","protocol":47},"players":{"max":5,"online":2}}', { version: '1.8.8' }],
    ['has a favicon that is no PNG', '{"description":"x","favicon":"data:image/png;base64,bm90IGEgUE5H"}', { motd: 'x' }],
    ['has a favicon that is no base64', '{"description":"x","favicon":"data:image/png;base64,????"}', { motd: 'x' }],
    ['is 1 MiB long', `{"description":"x","a":"${'A'.repeat(1_048_576 - 26)}"}`, { motd: 'x' }],
    ['has a favicon of 1 MB', `{"description":"x","favicon":"data:image/png;base64,${'A'.repeat(1_000_000)}"}`, { motd: 'x' }],
  ])('%s is read as far as possible', async (_, json, expected) => {
    await using server = await hostileServer((socket) => void socket.once('data', () => socket.write(encodeStatus(json))))
    using watched = watch({ edition: 'java', host: '127.0.0.1', port: server.port })
    const { fields, up } = await watched.watcher.poll()
    expect(up).toBe(true)
    for (const [name, value] of Object.entries(expected)) expect(fields[name as 'motd']?.value).toBe(value)
    await expect.poll(server.open).toBe(0)
  })

  it('sends no pong three consecutive times is not pinged again for a while', async () => {
    let requests = 0
    await using server = await hostileServer((socket) => {
      socket.on('data', (chunk) => {
        requests++
        // The handshake and request come first; what follows would be the ping.
        if (chunk[1] === 0) socket.write(encodeStatus('{"description":"x"}'))
      })
    })
    const timers = manualClock()
    const clock = { ...systemClock, after: timers.after }
    using watched = watch({ edition: 'java', host: '127.0.0.1', port: server.port }, { clock })
    /** Waits for the pong for longer than the source does, once the server has received the ping. */
    const pollWithPing = async () => {
      const before = requests
      const polled = watched.watcher.poll()
      await expect.poll(() => requests).toBe(before + 2)
      await timers.advance(1_000)
      return polled
    }
    const first = await pollWithPing()
    expect(first.up).toBe(true)
    expect(first.fields.latency?.value).toBeGreaterThan(0)
    for (let poll = 2; poll <= 3; poll++) await pollWithPing()
    expect((await watched.watcher.poll()).up).toBe(true)
    expect(requests).toBe(7)
    await expect.poll(server.open).toBe(0)
  })

  it('sends one pong too late is pinged again in the next poll', async () => {
    let pings = 0
    await using server = await hostileServer((socket) => {
      socket.on('data', (chunk) => {
        if (chunk[1] === 0) socket.write(encodeStatus('{"description":"x"}'))
        // Every third ping is answered, so three consecutive ones are never missed.
        else if (++pings % 3 === 0) socket.write(chunk)
      })
    })
    const timers = manualClock()
    const clock = { ...systemClock, after: timers.after }
    using watched = watch({ edition: 'java', host: '127.0.0.1', port: server.port }, { clock })
    for (let poll = 1; poll <= 7; poll++) {
      const polled = watched.watcher.poll()
      await expect.poll(() => pings).toBe(poll)
      if (poll % 3 !== 0) await timers.advance(1_000)
      expect((await polled).up).toBe(true)
    }
  })

  it('is closed during a poll releases all resources', async () => {
    await using server = await hostileServer((socket) => void socket.resume())
    using watched = watch({ edition: 'java', host: '127.0.0.1', port: server.port })
    const poll = watched.watcher.poll()
    await expect.poll(server.open).toBe(1)
    watched.watcher.close()
    await poll
    await expect.poll(server.open).toBe(0)
    expect(watched.warnings).toEqual([])
  })
})

describe('a name', () => {
  const named: ServerAddress = { edition: 'java', host: 'mc.example.org', port: 25566 }

  it('that does not exist is a named error, logged once', async () => {
    const lookup = () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND mc.example.org'), { code: 'ENOTFOUND' }))
    using watched = watch(named, { network: { ...systemNetwork, lookup } })
    await watched.watcher.poll()
    const snapshot = await watched.watcher.poll()
    expect(snapshot.sources[0]?.error?.code).toBe('dns')
    expect(snapshot.sources[0]?.error?.message).toContain('mc.example.org')
    expect(watched.warnings).toHaveLength(1)
  })

  it('that takes its time ends at the deadline, and opens no connection afterwards', async () => {
    let answer: (addresses: { address: string; family: number }[]) => void = () => {}
    let connections = 0
    const network: typeof systemNetwork = {
      ...systemNetwork,
      lookup: () => new Promise((resolve) => (answer = resolve)),
      connect(...args) {
        connections++
        return systemNetwork.connect(...args)
      },
    }
    using watched = watch(named, { network, deadline: timeout })
    const snapshot = await watched.watcher.poll()
    expect(snapshot.sources[0]?.error?.code).toBe('dns')
    answer([{ address: '127.0.0.1', family: 4 }])
    await new Promise(setImmediate)
    expect(connections).toBe(0)
  })
})
