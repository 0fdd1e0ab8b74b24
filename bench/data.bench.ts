import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { buildApp } from '../src/app.ts'
import { systemClock } from '../src/clock.ts'
import { loadConfig } from '../src/config.ts'
import { type Comeback, comebackFormat } from '../src/data/comeback.ts'
import { type ComebacksDatabase, comebacksBuilder } from '../src/data/comebacks-database.ts'
import { readSnapshot } from '../src/data/load.ts'
import { memory } from '../src/data/lru.ts'
import { type Ask, answerPage } from '../src/data/paging.ts'
import { listed } from '../src/data/selection.ts'
import { createFleet } from '../src/game/fleet.ts'
import { silentLog } from '../src/log.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const words = ['Moon', 'Echo', 'Signal', 'Tide', 'Runaway', 'Afterglow', 'Sugar', 'Compass', 'Static', 'Orbit', 'Window', 'Bloom']
const kinds = [['single', 'digital'], ['mini', 'album'], ['album'], ['single', 'japanese']]

/** As many invented comebacks, always the same; one in 4,000 has a rare artist. */
function invent(count: number): Comeback[] {
  let state = 42
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const word = () => words[next(words.length)] ?? ''
  return Array.from({ length: count }, (_, id) => ({
    date: `${2017 + Math.floor((id / count) * 9)}-${String(1 + next(12)).padStart(2, '0')}-${1 + next(28)}`,
    time: '18:00',
    artist: id % 4000 === 2000 ? `Zanzibar ${id}` : `${word()} ${word()} ${next(500)}`,
    title: `${word()} ${word()}`,
    types: kinds[next(kinds.length)] ?? [],
    links: [`https://example.org/listen/${id}`, `https://example.org/watch/${id}`],
  }))
}

/** Median milliseconds of one call, over about half a second at the most. */
function time(action: () => void): number {
  const samples: number[] = []
  const end = performance.now() + 500
  while (samples.length < 3 || (samples.length < 2000 && performance.now() < end)) {
    // What takes less than a microsecond is not measured well on its own.
    const start = performance.now()
    action()
    action()
    samples.push((performance.now() - start) / 2)
  }
  return samples.sort((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0
}

function naive(entries: readonly Comeback[], text: string, offset: number): string {
  const wanted = text.toLowerCase().normalize('NFC')
  const found = entries.filter(({ artist }) => artist.toLowerCase().normalize('NFC').includes(wanted))
  const results = found.slice(offset, offset + 50)
  return JSON.stringify({ results, count: results.length })
}

const used = () => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}
const shown = (milliseconds: number) => `${milliseconds.toPrecision(3)} ms`

async function measure(count: number): Promise<void> {
  const text = JSON.stringify([{ last_update: '2026-01-01 00:00:00 UTC' }, ...invent(count)])
  const loads: number[] = []
  const before = used()
  let database: ComebacksDatabase | undefined
  for (let turn = 0; turn < (count > 100_000 ? 1 : 5); turn++) {
    const start = performance.now()
    const { add, finish } = comebacksBuilder()
    database = finish(await readSnapshot(text, comebackFormat, add))
    loads.push(performance.now() - start)
  }
  if (database === undefined) return
  const db = database
  const memoryUsed = used() - before
  const load = loads.sort((a, b) => a - b)[Math.floor(loads.length / 2)] ?? 0
  const size = Buffer.byteLength(text) / 2 ** 20
  const start = performance.now()
  JSON.parse(text)
  const parse = performance.now() - start
  console.log(
    `\n${count} entries, ${size.toFixed(1)} MiB of JSON: load ${load.toFixed(0)} ms (${(load / parse).toFixed(1)} of JSON.parse alone), memory ${memoryUsed.toFixed(0)} MiB (${(memoryUsed / size).toFixed(2)} of the JSON)\n`,
  )
  const entries = invent(count)
  const forgetful = { ...db, selections: memory<never>(0, () => 0), replies: memory<never>(0, () => 0) }
  console.log('| text | page at | naive filter | uncached | faster | repeated | faster |\n|---|---|---|---|---|---|---|')
  for (const [kind, query] of Object.entries({ rare: 'zanzi', common: 'o', absent: 'quokka' })) {
    const total = listed(db.artist.find(query)).total
    for (const [page, offset] of Object.entries({ first: 0, deep: Math.max(0, total - 50) })) {
      if (page === 'deep' && offset === 0) continue
      const ask: Ask<ComebacksDatabase> = { given: { artist: query }, select: ({ artist }) => listed(artist.find(query)) }
      const slow = time(() => naive(entries, query, offset))
      const fresh = time(() => answerPage(forgetful, '/artist', ask, 50, offset))
      const repeated = time(() => answerPage(db, '/artist', ask, 50, offset))
      const cells = [`${kind} (${total})`, page, shown(slow), shown(fresh), (slow / fresh).toFixed(1), shown(repeated)]
      console.log(`| ${cells.join(' | ')} | ${(slow / repeated).toFixed(0)} |`)
    }
  }
}

/** Requests per second that wrk gets from a URL. */
async function throughput(url: string): Promise<number> {
  const wrk = spawn('wrk', ['-t1', '-c16', '-d2s', url])
  let output = ''
  for await (const chunk of wrk.stdout) output += chunk
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
}

async function measureHttp(): Promise<void> {
  if (spawnSync('wrk', ['-v']).error) return console.log('\nHTTP: not measured, wrk is not installed')
  const folder = await mkdtemp(join(tmpdir(), 'tickwarden-bench-'))
  await writeFile(
    join(folder, 'kcomebacks.json'),
    JSON.stringify([{ last_update: '2026-01-01 00:00:00 UTC' }, ...invent(12_000)]),
  )
  const config = loadConfig({ env: { DATA_DIR: folder } })
  const createSources = () => ({}) as never
  const fleet = createFleet({ servers: [], poll: config.poll, clock: systemClock, log: silentLog, createSources })
  const app = await buildApp({ config, fleet, logger: pino({ level: 'silent' }) })
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/kcomebacks/filter/artist?artist=o&limit=50&offset=100`
  const reply = await fetch(url)
  const body = Buffer.from(await reply.arrayBuffer())
  // The same bytes: with the same headers, but for those that node:http adds itself.
  const own = ['connection', 'date', 'keep-alive', 'transfer-encoding']
  const headers = Object.fromEntries([...reply.headers].filter(([name]) => !own.includes(name)))
  const bare = createServer((_request, reply) => {
    reply.writeHead(200, headers).end(body)
  })
  await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve))
  const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`
  const ratios: number[] = []
  // Warm both up first.
  for (const target of [bareUrl, url]) await throughput(target)
  for (let turn = 0; turn < 3; turn++) {
    const [reference, own] = [await throughput(bareUrl), await throughput(url)]
    ratios.push(own / reference)
    console.log(
      `${turn === 0 ? '\n' : ''}HTTP, a page of 50 (${body.length} bytes): bare node:http ${reference.toFixed(0)}/s, service ${own.toFixed(0)}/s`,
    )
  }
  console.log(`HTTP: ${ratios.sort((a, b) => a - b)[1]?.toFixed(2)} of bare node:http (median of 3)`)
  await app.close()
  await new Promise((resolve) => bare.close(resolve))
  await rm(folder, { recursive: true })
}

export async function run(): Promise<void> {
  await measure(12_000)
  await measure(1_000_000)
  await measureHttp()
}
