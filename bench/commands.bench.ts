import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startDemoServer } from '../src/demo/demo-server.ts'
import { formatHostPort } from '../src/util/address.ts'
import type { BenchOptions } from './main.ts'
import { record } from './results.ts'

const main = fileURLToPath(new URL('../dist/src/main.js', import.meta.url))

/** Milliseconds of CPU time of a process of Node.js: the median of several runs. */
async function cpuOf(args: readonly string[], runs: number): Promise<number> {
  // The process itself reports its time when it ends.
  const report = "data:text/javascript,process.on('exit',()=>{const{user,system}=process.cpuUsage();process.send(user+system)})"
  const all: number[] = []
  for (let run = 0; run < runs; run++) {
    const child = spawn(process.execPath, ['--import', report, ...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    child.on('message', (microseconds) => void all.push(Number(microseconds) / 1_000))
    await once(child, 'close')
  }
  return all.sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN
}

export async function run({ quick }: BenchOptions): Promise<void> {
  const server = await startDemoServer({})
  try {
    const runs = quick ? 1 : 11
    const empty = await cpuOf(['-e', ''], runs)
    const status = await cpuOf([main, 'status', formatHostPort(server.address)], runs)
    console.log(`tickwarden status: ${status.toFixed(0)} ms of CPU time; node -e '': ${empty.toFixed(0)} ms`)
    record("`tickwarden status` of a local server, less twice `node -e ''`", status - 2 * empty, 'ms of CPU', 'at most 60')
  } finally {
    await server.close()
  }
}
