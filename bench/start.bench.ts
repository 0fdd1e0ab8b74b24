import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { cpu, main, startDemo, startServer } from './against-bare.ts'
import type { BenchOptions } from './main.ts'
import { readOptions } from './options.ts'
import { record } from './results.ts'

const options = readOptions('seconds')

/** Some 20 s after the start, V8 collects what it left, which takes 0.1 s of CPU. In seconds; at the most half the measurement. */
const maxSettleSeconds = 30

interface Use {
  /** CPU ms until the first reply. */
  readonly start: number
  /** MiB at the end. */
  readonly memory: number
  /** Per second, once the start is over. */
  readonly idle: { readonly cpu: number; readonly wakeUps: number }
}

const field = (status: string, name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])

/** How often a thread of a process has waited for something; only on Linux. */
async function wakeUps(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const counts = threads.map(async (thread) =>
    field(await readFile(`/proc/${pid}/task/${thread}/status`, 'utf8').catch(() => ''), 'voluntary_ctxt_switches'),
  )
  return (await Promise.all(counts)).reduce((sum, count) => sum + (count || 0), 0)
}

async function measure(args: readonly string[], settings: Readonly<Record<string, string>>, seconds: number): Promise<Use> {
  const { pid, end } = await startServer(args, settings, '/healthz')
  try {
    const start = (await cpu(pid)) * 1000
    const settle = Math.min(maxSettleSeconds, seconds / 2)
    await setTimeout(settle * 1000)
    const before = { cpu: await cpu(pid), wakeUps: await wakeUps(pid), at: performance.now() }
    await setTimeout((seconds - settle) * 1000)
    const elapsed = (performance.now() - before.at) / 1000
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    return {
      start,
      memory: field(status, 'VmRSS') / 1024,
      idle: {
        cpu: (((await cpu(pid)) - before.cpu) * 1000) / elapsed,
        wakeUps: ((await wakeUps(pid)) - before.wakeUps) / elapsed,
      },
    }
  } finally {
    end()
  }
}

/** One watched server: memory, the CPU time of a start, and what an idle service uses, beside a bare Fastify with prom-client. */
export async function run({ quick }: BenchOptions): Promise<void> {
  const seconds = quick ? 1 : options.number('seconds', 60)
  const demo = await startDemo()
  try {
    const { MC_SERVER = '' } = demo.settings
    // At the same time, so that both have the same machine.
    const [service, bare] = await Promise.all([
      measure(['--v8-pool-size=1', main], { MC_SERVER }, seconds),
      measure(['--v8-pool-size=1', join(import.meta.dirname, 'bare-fastify.mjs')], {}, seconds),
    ])
    for (const [name, { start, memory, idle }] of Object.entries({ service, 'bare Fastify': bare })) {
      console.log(
        `${name}: ${memory.toFixed(0)} MiB after ${seconds} s, ${start.toFixed(0)} ms of CPU to the first reply, ` +
          `then ${idle.cpu.toFixed(1)} ms of CPU and ${idle.wakeUps.toFixed(1)} wake-ups a second`,
      )
    }
    const to = 'service / bare Fastify with prom-client'
    record(`one server after ${seconds} s: memory (RSS)`, service.memory, 'MiB')
    record(`one server after ${seconds} s: memory (RSS), ${to}`, service.memory / bare.memory, 'ratio', 'at most 1.5')
    record('one server: CPU to the first reply', service.start, 'ms CPU')
    record(`one server: CPU to the first reply, ${to}`, service.start / bare.start, 'ratio', 'at most 2')
    record('one server, idle: CPU per second', service.idle.cpu, 'ms CPU', 'at most 2')
    record('one server, idle: wake-ups per second', service.idle.wakeUps, 'per second', 'at most 5')
  } finally {
    demo.end()
  }
}
