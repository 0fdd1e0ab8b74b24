import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../src/clock.ts'
import { createLimiter } from '../src/game/names/limiter.ts'
import { createSystemResolver } from '../src/game/names/system-resolver.ts'
import { createNetwork } from '../src/game/network.ts'
import { record } from './results.ts'

/** The maximum duration of a poll with the default of POLL_TIMEOUT, milliseconds. */
const deadlineMs = 3_000
const tickMs = 10
const startTimeoutMs = 20_000

interface Load {
  readonly names: number
  /** Milliseconds from one lookup of a name to the next. */
  readonly intervalMs: number
  readonly rounds: number
}

/** Resolves every name once per interval, spread over it like the polls of a fleet. Returns the milliseconds of each lookup. */
async function measure(
  lookup: (name: string) => Promise<unknown>,
  { names, intervalMs, rounds }: Load,
): Promise<readonly number[]> {
  const took: number[] = []
  const pending = new Set<Promise<void>>()
  const started = performance.now()
  let next = 0
  while (next < names * rounds) {
    const due = Math.min(names * rounds, Math.ceil(((performance.now() - started) / intervalMs) * names))
    for (; next < due; next++) {
      const from = performance.now()
      const late = setTimeout(deadlineMs)
      const done: Promise<void> = Promise.race([lookup(`s${next % names}.example.org`).catch(() => late), late]).then(() => {
        took.push(performance.now() - from)
        pending.delete(done)
      })
      pending.add(done)
    }
    await setTimeout(tickMs)
  }
  await Promise.all(pending)
  return took
}

function report(name: string, took: readonly number[]): void {
  const sorted = took.toSorted((a, b) => a - b)
  const at = (part: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(1)
  const late = took.filter((ms) => ms >= deadlineMs).length
  record(`lookups by ${name}: over ${deadlineMs} ms`, (100 * late) / took.length, '%')
  record(`lookups by ${name}: 99 %`, Number(at(0.99)), 'ms')
  console.log(
    `${name.padEnd(36)}${((100 * late) / took.length).toFixed(2)} % over ${deadlineMs} ms; median ${at(0.5)}, 99 % ${at(0.99)}, longest ${at(1)} ms`,
  )
}

async function startNameServer(): Promise<{ readonly child: ChildProcess; readonly address: string }> {
  const child = fork(fileURLToPath(new URL('names/name-server.ts', import.meta.url)))
  const [{ address }] = (await once(child, 'message', { signal: AbortSignal.timeout(startTimeoutMs) })) as [{ address: string }]
  return { child, address }
}

/**
 * Lookups of 10,000 names at a name server that answers in 20 ms, for longer than the TTL of its answers: with the cache, and
 * with three threads of getaddrinfo without a cache (each blocked for the 20 ms).
 */
export async function run({ quick = false }: { readonly quick?: boolean } = {}): Promise<void> {
  const names = quick ? 500 : 10_000
  const intervalMs = quick ? 250 : 5_000
  const { child, address } = await startNameServer()
  let lookups = 0
  const resolver = createSystemResolver({ clock: systemClock, nameServers: [address] })
  const network = createNetwork({ clock: systemClock, servers: names, resolver, onLookup: () => lookups++ })
  try {
    report('cache, warm-up', await measure(network.lookup, { names, intervalMs, rounds: 1 }))
    const took = await measure(network.lookup, { names, intervalMs, rounds: quick ? 2 : 9 })
    report('cache, after it', took)
    console.log(`${''.padEnd(36)}${lookups} of ${took.length + names} lookups went to the name server`)
    const inThread = createLimiter(() => 3)
    const threads = () => inThread(() => setTimeout(20))
    report('three threads without a cache', await measure(threads, { names, intervalMs, rounds: 1 }))
  } finally {
    network.close()
    child.disconnect()
  }
}
