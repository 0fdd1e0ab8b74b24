import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { built } from './built.ts'
import type { BenchOptions } from './main.ts'

const { serve } = await built<typeof import('../src/commands/serve.ts')>('commands/serve.js')
const { loadConfig } = await built<typeof import('../src/config.ts')>('config.js')

const second = 1_000
const perSecond = 100
/** Rounds after which the same servers change again. */
const turns = 5

/** Each round renames 50 servers, moves 50 others, and reverts the changes of the previous round. */
function targets(count: number, round: number): string {
  const groups = Array.from({ length: count }, (_, index) => {
    const isChanged = round > 0 && Math.floor(index / perSecond) === round % turns
    const name = isChanged && index % 2 === 0 ? `s${index}-${round}` : `s${index}`
    return { targets: [`127.0.0.1:${isChanged && index % 2 === 1 ? 2 : 1}`], labels: { name } }
  })
  return JSON.stringify(groups)
}

/** One file_sd file of 10,000 servers, of which 100 change every second for a minute, under the whole service. */
export async function run({ quick }: BenchOptions): Promise<void> {
  const [count, rounds] = quick ? [1_000, 2] : [10_000, 60]
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heapMB = () => {
    collect()
    return process.memoryUsage().heapUsed / 1e6
  }
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-bench-'))
  const file = join(folder, 'targets.json')
  const write = (round: number) => {
    writeFileSync(`${file}.new`, targets(count, round))
    renameSync(`${file}.new`, file)
  }
  write(0)
  // Connections to the addresses are refused, so that almost all of the work is the change itself.
  const config = loadConfig({ env: { PORT: '0', POLL_INTERVAL: '1h', DISCOVERY_FILE_SD: file } })
  const service = await serve(config, pino({ level: 'silent' }))
  const names = async () => new Set((await (await fetch(`${service.url}/api/v1/servers`)).json()) as readonly string[])
  const settled = () => new Promise((resolve) => setTimeout(resolve, quick ? 100 : 10 * second))
  try {
    // Wait until every server has been polled once, because snapshots take memory.
    while (!quick && (await fetch(`${service.url}/readyz`)).status !== 200) await settled()
    // Code that runs for the first time also takes memory.
    for (let round = 1; round <= turns; round++) {
      write(round)
      await new Promise((resolve) => setTimeout(resolve, quick ? 100 : second))
    }
    await settled()
    const before = heapMB()
    const delay = monitorEventLoopDelay({ resolution: 5 })
    const cpuBefore = process.cpuUsage()
    const started = performance.now()
    delay.enable()
    const latencies: number[] = []
    for (let number = 1; number <= rounds; number++) {
      const round = turns + number
      const due = started + number * second
      const begun = performance.now()
      write(round)
      const wanted = (JSON.parse(targets(count, round)) as { labels: { name: string } }[]).find(({ labels }) =>
        labels.name.endsWith(`-${round}`),
      )?.labels.name
      while (wanted !== undefined && !(await names()).has(wanted)) await new Promise((resolve) => setTimeout(resolve, 20))
      latencies.push(performance.now() - begun)
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
    }
    delay.disable()
    const { user, system } = process.cpuUsage(cpuBefore)
    const elapsed = performance.now() - started
    await settled()
    const after = heapMB()
    const sorted = latencies.toSorted((a, b) => a - b)
    const at = (part: number) => (sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(0)
    console.log(`${count} servers, ${perSecond} changed every second, ${rounds} times`)
    console.log(`heap: ${before.toFixed(1)} MB before, ${after.toFixed(1)} MB after (${((after / before) * 100).toFixed(0)} %)`)
    console.log(`from the write to /api/v1/servers: median ${at(0.5)} ms, worst ${at(1)} ms`)
    console.log(`event loop delay: p99 ${(delay.percentile(99) / 1e6).toFixed(0)} ms, worst ${(delay.max / 1e6).toFixed(0)} ms`)
    console.log(
      `CPU: ${(((user + system) / 1_000 / elapsed) * 100).toFixed(0)} % of one core, with the writer and the reader of the list`,
    )
  } finally {
    await service.close()
    rmSync(folder, { recursive: true })
  }
}
