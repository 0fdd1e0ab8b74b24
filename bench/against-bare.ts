import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Pool } from 'undici'
import { hasTool } from '../test/helpers/require-tool.ts'

const warmUps = 5
const rounds = 5
const seconds = 2
const connections = 64

const start = (name: string) => fork(join(import.meta.dirname, 'http', `${name}.ts`), { execArgv: ['--import', 'tsx'] })

const answer = async <T>(child: ChildProcess): Promise<T> => (await once(child, 'message'))[0]

/** CPU microseconds that the child has used. */
function cpu(child: ChildProcess): Promise<number> {
  child.send('cpu')
  return answer(child)
}

interface Result {
  /** Requests per second. */
  readonly rate: number
  /** CPU microseconds of the server per request: unlike the rate, hardly changed by what else the machine does. */
  readonly cost: number
}

/** Requests per second with wrk, which costs less than the servers do. */
async function wrk(url: string): Promise<number> {
  const { stdout } = await promisify(execFile)('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, url])
  if (/Non-2xx/.test(stdout)) throw new Error(stdout)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}

/** The same with undici: here the client is the slower part, so that the ratio comes out nearer to 1. */
async function loop(url: string): Promise<number> {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections })
  const end = performance.now() + seconds * 1000
  let count = 0
  const client = async () => {
    while (performance.now() < end) {
      await (await pool.request({ path: pathname, method: 'GET' })).body.dump()
      count++
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  await pool.close()
  return count / seconds
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** GET /api/v1/getall of the whole service against a bare node:http server that sends the same bytes. */
export async function run(): Promise<void> {
  const [whole, bare] = [start('whole'), start('bare')]
  try {
    const wholeUrl = `${await answer<string>(whole)}/api/v1/getall`
    const reply = await fetch(wholeUrl)
    const body = await reply.text()
    const { connection, date, 'keep-alive': keepAlive, ...headers } = Object.fromEntries(reply.headers)
    bare.send({ headers, body })
    const bareUrl = await answer<string>(bare)
    const load = hasTool('wrk') ? wrk : loop
    const measure = async (child: ChildProcess, url: string): Promise<Result> => {
      const before = await cpu(child)
      const rate = await load(url)
      return { rate, cost: ((await cpu(child)) - before) / (rate * seconds) }
    }

    // A service runs for days: what is measured is the compiled code, not how it gets there.
    for (let round = 0; round < warmUps; round++) await Promise.all([load(wholeUrl), load(bareUrl)])
    const results: { whole: Result; bare: Result }[] = []
    for (let round = 0; round < rounds; round++)
      results.push({ whole: await measure(whole, wholeUrl), bare: await measure(bare, bareUrl) })
    const show = (name: string, pick: (result: (typeof results)[number]) => Result) => {
      const [rate, cost] = [
        median(results.map((result) => pick(result).rate)),
        median(results.map((result) => pick(result).cost)),
      ]
      console.log(`  ${name} ${Math.round(rate)} requests/s, ${cost.toFixed(1)} µs CPU per request`)
    }
    const ratio = median(results.map((result) => result.whole.rate / result.bare.rate))
    const costRatio = median(results.map((result) => result.bare.cost / result.whole.cost))
    console.log(
      `GET /api/v1/getall, ${body.length} bytes, ${connections} connections, load by ${load === wrk ? 'wrk' : 'undici'}`,
    )
    show('whole service ', (result) => result.whole)
    show('bare node:http', (result) => result.bare)
    console.log(`  ratio ${ratio.toFixed(2)} by rate, ${costRatio.toFixed(2)} by CPU (goal: at least 0.85)`)
  } finally {
    whole.disconnect()
    bare.disconnect()
  }
}
