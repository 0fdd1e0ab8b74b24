import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { formatHostPort } from '../src/util/address.ts'
import { median } from './against-bare.ts'
import { built } from './built.ts'
import type { BenchOptions } from './main.ts'
import { record } from './results.ts'

const { startDemoServer } = await built<typeof import('../src/demo/demo-server.ts')>('demo/demo-server.js')

const main = fileURLToPath(new URL('../dist/src/main.js', import.meta.url))

/** Milliseconds of CPU time of a process of Node.js. */
async function cpuOf(args: readonly string[]): Promise<number> {
  // The process itself reports its time when it ends.
  const report = "data:text/javascript,process.on('exit',()=>{const{user,system}=process.cpuUsage();process.send(user+system)})"
  const child = spawn(process.execPath, ['--import', report, ...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  let microseconds = Number.NaN
  child.on('message', (reported) => {
    microseconds = Number(reported)
  })
  await once(child, 'close')
  return microseconds / 1_000
}

export async function run({ quick }: BenchOptions): Promise<void> {
  const server = await startDemoServer({})
  try {
    const all: { readonly empty: number; readonly status: number }[] = []
    // In turns, because the speed of the machine may change.
    for (let run = quick ? 0 : 10; run >= 0; run--)
      all.push({ empty: await cpuOf(['-e', '']), status: await cpuOf([main, 'status', formatHostPort(server.address)]) })
    const empty = median(all.map((times) => times.empty))
    const status = median(all.map((times) => times.status))
    console.log(`tickwarden status: ${status.toFixed(0)} ms of CPU time; node -e '': ${empty.toFixed(0)} ms`)
    record("`tickwarden status` of a local server, less twice `node -e ''`", status - 2 * empty, 'ms of CPU', 'at most 60')
  } finally {
    await server.close()
  }
}
