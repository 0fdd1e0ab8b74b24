import { afterEach, expect, it } from 'vitest'
import { RconSource } from '../../../../src/game/sources/rcon/rcon-source.ts'
import type { Source } from '../../../../src/game/sources/source.ts'
import { SourceWatcher } from '../../../../src/game/watcher/index.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { listenRconPeer, packet, type RconPeer, type Request } from '../../../helpers/rcon-peer.ts'

const tickMs = 1_000
const timeout = 2_500
const tickQuery =
  "The game is running, but can't keep up with the target tick rateTarget tick rate: 20.0 per second.\nAverage time per tick: 1000.0ms (Target: 50.0ms)Percentiles: P50: 1000.0ms P95: 1000.0ms P99: 1000.0ms. Sample: 100"

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

/** A server at one tick a second, which answers one command at the end of each tick, and a watcher of it. */
async function watchSlowServer() {
  const clock = manualClock(500)
  const waiting: Request[] = []
  const rest = { isPolling: false }
  let firstTick = 5_000
  const peer: RconPeer = await listenRconPeer((request) => waiting.push(request))
  const tick = () => {
    clock.after(tickMs, tick)
    const request = waiting.shift()
    if (request === undefined || request.socket.destroyed) return
    const gameTime = firstTick + Math.round(clock.now() / tickMs)
    const replies: Record<string, string> = {
      'tick query': tickQuery,
      'time query gametime': `The time is ${gameTime}`,
      'list uuids': 'There are 1 of a max of 20 players online: Alice (069a79f4-44e9-4726-a5be-fca90e38aaf5)',
    }
    request.socket.write(packet(request.id, 0, replies[request.body] ?? 'Unknown or incomplete command, see below<--[HERE]'))
  }
  clock.after(tickMs / 2, tick)
  const watcher = new SourceWatcher({
    server: 'slow',
    settings: { interval: 5_000, timeout, staleAfter: 15_000 },
    clock,
    log: silentLog,
    random: () => 0,
    sources(push) {
      const rcon = new RconSource({ address: peer.address, password: 'secret' }, { clock, log: silentLog, random: () => 0, push })
      const source: Source = {
        ...rcon,
        async poll(...poll) {
          rest.isPolling = true
          return rcon.poll(...poll).finally(() => {
            rest.isPolling = false
          })
        },
        close: () => rcon.close(),
      }
      return { list: () => [source], close: () => rcon.close() }
    },
  })
  function restartCounter(): void {
    firstTick = 0
  }
  cleanups.push(
    () => watcher.close(),
    () => peer.close(),
  )
  /** Moves time only while the server has a command to answer or no poll is running: bytes take no time. */
  async function advance(milliseconds: number): Promise<void> {
    const end = clock.now() + milliseconds
    while (clock.now() < end) {
      if (!rest.isPolling || waiting.some(({ socket }) => !socket.destroyed)) await clock.advance(10)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { clock, peer, watcher, advance, restartCounter }
}

it('measures the rate of a server with one tick per second within 20 s', async () => {
  const { watcher, advance, peer } = await watchSlowServer()
  watcher.start()
  await advance(20_000)
  const { tickRate, tickRateTarget, playersOnline, tickCount } = watcher.snapshot().fields
  expect(tickRate?.value).toBeGreaterThan(0.75)
  expect(tickRate?.value).toBeLessThan(1.25)
  // The expression of the alert ServerLagging.
  expect(tickRate!.value / (tickRateTarget?.value ?? 20)).toBeLessThan(0.9)
  expect(playersOnline?.value).toBe(1)
  expect(tickCount?.value.ticks).toBeGreaterThan(5_010)
  // No command was cut off by the deadline, which would have closed the connection.
  expect(peer.logins).toBe(1)
  expect(peer.commands.slice(0, 2)).toEqual(['time query gametime', 'list uuids'])
})

it('measures the tick rate again after a reconnect, also when the counter continues', async () => {
  const { watcher, advance, peer, restartCounter } = await watchSlowServer()
  watcher.start()
  await advance(12_000)
  expect(watcher.snapshot().fields.tickRate).toBeDefined()
  for (const restart of [() => {}, restartCounter]) {
    for (const socket of peer.sockets) socket.destroy()
    restart()
    const { logins } = peer
    await advance(5_000)
    expect(peer.logins).toBe(logins + 1)
    expect(watcher.snapshot().fields.tickCount).toBeDefined()
    expect(watcher.snapshot().fields.tickRate).toBeUndefined()
    await advance(5_000)
    expect(watcher.snapshot().fields.tickRate?.value).toBeCloseTo(1, 1)
  }
  expect(watcher.snapshot().fields.tickCount?.value.ticks).toBeLessThan(5_000)
})
