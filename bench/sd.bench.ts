import type { ServerSettings } from '../src/game/server.ts'
import { built } from './built.ts'
import type { BenchOptions } from './main.ts'
import { record } from './results.ts'

const { prepareTargets } = await built<typeof import('../exporter/sd-route.ts')>('../exporter/sd-route.js')

const serversOf = (count: number): readonly ServerSettings[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `server-${index}`,
    sources: { status: { address: { edition: 'java', host: `mc-${index % (count / 2)}.example.org`, port: 25_565 } } },
  }))

/** Median milliseconds to make the reply of /sd; it should take ten times as long as for a tenth of the servers. */
export async function run({ quick }: BenchOptions): Promise<void> {
  const times = new Map<number, number>()
  for (const count of [1_000, 10_000]) {
    const servers = serversOf(count)
    const samples: number[] = []
    for (let round = 0; round < (quick ? 3 : 50); round++) {
      const start = performance.now()
      prepareTargets(servers)
      samples.push(performance.now() - start)
    }
    times.set(count, samples.sort((a, b) => a - b)[samples.length >> 1] ?? 0)
  }
  const [small = 0, large = 0] = times.values()
  record('/sd of 10,000 servers', large, 'ms', 'under 50')
  record('/sd: 10,000 / 1,000 servers', large / small, 'ratio')
  console.log(
    `/sd of 10,000 servers: ${large.toFixed(1)} ms (goal: under 50 ms), ${(large / small).toFixed(1)} times that of 1,000`,
  )
}
