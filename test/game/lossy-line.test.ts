import { describe, expect, it, type TestContext } from 'vitest'
import { startDemoServer } from '../../src/demo/demo-server.ts'
import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import { createFleet } from '../../src/game/fleet.ts'
import type { GivenSources } from '../../src/game/server-settings.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import type { Source } from '../../src/game/sources/source.ts'
import { systemClock } from '../../src/util/clock.ts'
import { type Log, silentLog } from '../../src/util/log.ts'
import { createLossyLine, type Fault, type LossyLine } from '../helpers/lossy-line.ts'
import { until } from '../helpers/until.ts'

const protocols = ['status', 'rcon', 'management'] as const
type Protocol = (typeof protocols)[number]
const isLong = process.env.LONG_TESTS === '1'
type Test = Pick<TestContext, 'onTestFinished'>

/** A demo server behind a line, and the one source that reads it. */
async function startBehindLine(
  protocol: Protocol,
  test: Test,
): Promise<{ readonly line: LossyLine; readonly sources: GivenSources }> {
  // Without players the reply is the same in every run; the icon makes the status longer than 500 bytes.
  const demo = await startDemoServer({ players: 0, scenario: 'steady' })
  test.onTestFinished(demo.close)
  const { address, rcon, management } = demo
  if (management === undefined) throw new Error('the demo server has no management protocol')
  const ports = { status: address.port, rcon: rcon.address.port, management: Number(new URL(management.url).port) }
  const line = await createLossyLine(ports[protocol], test)
  const { port } = line
  const sources: Readonly<Record<Protocol, GivenSources>> = {
    status: { status: { address: { ...address, port } } },
    rcon: { rcon: { ...rcon, address: { ...rcon.address, port } } },
    management: { management: { ...management, url: `ws://127.0.0.1:${port}` } },
  }
  return { line, sources: sources[protocol] }
}

/** Watches a demo server by one protocol over a line, polling every 300 ms. */
async function watchOver(protocol: Protocol, timeout: number, test: Test) {
  const { line, sources } = await startBehindLine(protocol, test)
  const lines: string[] = []
  const note = (_: unknown, text?: string) => void lines.push(text ?? '')
  const log: Log = { ...silentLog, info: note, warn: note }
  const poll = { interval: 300, timeout, staleAfter: 30_000 }
  const fleet = createFleet({ servers: [{ name: 'a', sources }], poll, clock: systemClock, log, createSources })
  test.onTestFinished(() => fleet.close())
  const watcher = fleet.watchers[0]!
  return { line, lines, watcher, up: () => watcher.snapshot().up }
}

const slow: Fault = { sliceBytes: 50, everyMs: 500 }
const late: Fault = { latencyMs: 6_000 }
/** Less than any fault delays a reply, and long enough that a busy machine causes no further timeout. */
const shortTimeout = 3_000

// Concurrent, because these tests mostly wait; each needs its own expect().
describe.concurrent.each(protocols)('%s over a line with', (protocol) => {
  const faults: readonly (readonly [name: string, fault: Fault, code: string])[] = [
    ['silence', 'silent', 'timeout'],
    ['resets', 'reset', 'closed'],
    ['a cut after 10 bytes', { cutAfter: 10 }, 'closed'],
    ['a latency of 6 s', late, 'timeout'],
    // The replies of the other protocols are as short as a slice.
    ...(protocol === 'status' ? ([['100 B a second', slow, 'timeout']] as const) : []),
  ]

  it.for(faults)(
    '%s: the server is down and recovers within two attempts, with one log line for each',
    async ([, fault, code], test) => {
      const { expect } = test
      const { line, lines, watcher, up } = await watchOver(protocol, code === 'timeout' ? shortTimeout : 45_000, test)
      watcher.start()
      await expect.poll(up).toBe(true)
      line.fault = fault
      await expect.poll(up).toBe(false)
      const failed = () =>
        Object.entries(watcher.snapshot().polls).reduce((sum, [outcome, n]) => sum + (outcome === 'ok' ? 0 : n), 0)
      await expect.poll(failed).toBeGreaterThanOrEqual(2)
      expect(Object.keys(watcher.snapshot().polls).filter((outcome) => outcome !== 'ok')).toEqual([code])
      expect(lines).toEqual([expect.stringContaining(`(${code})`)])
      line.fault = 'none'
      const attempts = line.accepted
      await expect.poll(up).toBe(true)
      // A poll that was running may still fail: the next attempt reaches the server.
      expect(line.accepted - attempts).toBeLessThanOrEqual(2)
      expect(lines).toEqual([expect.any(String), expect.stringContaining('reachable again')])
    },
  )

  it.for<[string, Fault]>([
    ['slices of 8 bytes', { sliceBytes: 8, everyMs: 1 }],
    ['a latency of 400 ms', { latencyMs: 400 }],
    ['5 KB a second', { sliceBytes: 100, everyMs: 20 }],
  ])('%s: the server is up if the timeout allows it', async ([, fault], test) => {
    const { expect } = test
    const { line, lines, watcher } = await watchOver(protocol, 45_000, test)
    line.fault = fault
    const snapshot = await watcher.poll()
    expect(snapshot).toMatchObject({ up: true, fields: { playersOnline: { value: 0 } } })
    expect(lines).toEqual([])
  })
})

/** The fields that do not change between two readings of the steady demo server. */
const constant = ['playersOnline', 'playersMax', 'motd', 'version', 'protocol', 'defaultGameMode', 'tickRateTarget'] as const
const constantOf = (fields: Partial<Fields>) =>
  Object.fromEntries(constant.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])))

type Outcome = { readonly fields: Partial<Fields> } | { readonly code: string }

describe.each(protocols)('%s that stops at any byte', (protocol) => {
  async function start(test: Test) {
    const { line, sources } = await startBehindLine(protocol, test)
    const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }
    const createSource = () => createSources({ name: 'a', sources }, context).list()[0]!
    const first = createSource()
    const whole = constantOf((await first.poll(new AbortController().signal)).fields)
    expect(whole).toHaveProperty('playersOnline', 0)
    const bytes = line.received
    first.close()
    await until(() => line.open === 0)
    // Each byte at first, then one in five while there are handshakes and logins, then one in 29; the long test takes more of them.
    const isStop = isLong
      ? (byte: number) => byte < 200 || byte % 11 === 0
      : (byte: number) => byte < 32 || byte % (byte < 200 ? 5 : 29) === 0 || byte === bytes - 1
    const stops = Array.from({ length: bytes }, (_, byte) => byte).filter(isStop)
    return { line, createSource, whole, stops }
  }

  const outcomeOf = (poll: ReturnType<Source['poll']>): Promise<Outcome> =>
    poll.then(
      ({ fields }) => ({ fields }),
      ({ code }) => ({ code }),
    )

  /** The fields that it has read are correct, however few. */
  function expectHonest(outcome: Outcome, whole: Partial<Fields>, code: string, stop: number): void {
    if ('code' in outcome) expect(outcome.code, `after ${stop} bytes`).toBe(code)
    else expect(whole, `after ${stop} bytes`).toMatchObject(constantOf(outcome.fields))
  }

  it('because the connection was closed provides no wrong values, and all values once the line recovers', async (test) => {
    const { line, createSource, whole, stops } = await start(test)
    for (const stop of stops) {
      line.fault = { cutAfter: stop }
      const source = createSource()
      expectHonest(await outcomeOf(source.poll(new AbortController().signal)), whole, 'closed', stop)
      line.fault = 'none'
      await expectWhole(source, whole, stop)
      source.close()
      await until(() => line.open === 0)
    }
  })

  it('because the line stalls provides no wrong values, and all values once the line recovers', async (test) => {
    const { line, createSource, whole, stops } = await start(test)
    for (const stop of stops) {
      line.fault = { stallAfter: stop }
      const source = createSource()
      const controller = new AbortController()
      let isOver = false
      const poll = outcomeOf(source.poll(controller.signal)).finally(() => {
        isOver = true
      })
      // A status whose pong is missing ends by itself.
      await until(() => line.held > 0 || isOver)
      controller.abort(new SourceError('timeout', 'deadline'))
      expectHonest(await poll, whole, 'timeout', stop)
      // Delayed bytes arrive late: they must not be treated as the reply to another request.
      line.fault = 'none'
      await expectWhole(source, whole, stop)
      source.close()
      await until(() => line.open === 0)
    }
  })

  /** Everything is back within two polls. */
  async function expectWhole(source: Source, whole: Partial<Fields>, stop: number): Promise<void> {
    const poll = async () => constantOf((await source.poll(new AbortController().signal)).fields)
    const first = await poll().catch((): Partial<Fields> => ({}))
    expect(whole, `in the first poll after ${stop} bytes`).toMatchObject(first)
    expect(await poll(), `in the second poll after ${stop} bytes`).toMatchObject(whole)
  }
})
