import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Comeback } from '../src/data/databases/kcomebacks.ts'
import type { Database } from '../src/data/store/database.ts'
import { againstBare } from './against-bare.ts'
import { built } from './built.ts'
import type { BenchOptions } from './main.ts'
import { record } from './results.ts'

const { comebacksDatabase } = await built<typeof import('../src/data/databases/kcomebacks.ts')>('data/databases/kcomebacks.js')
const { Database: BuiltDatabase } = await built<typeof import('../src/data/store/database.ts')>('data/store/database.js')
const { loadSnapshot } = await built<typeof import('../src/data/store/read-snapshot.ts')>('data/store/read-snapshot.js')
const { filtersOf, select } = await built<typeof import('../src/data/routes/filter.ts')>('data/routes/filter.js')
const { pageReply } = await built<typeof import('../src/data/routes/replies.ts')>('data/routes/replies.js')

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const words = ['Moon', 'Echo', 'Signal', 'Tide', 'Runaway', 'Afterglow', 'Sugar', 'Compass', 'Static', 'Orbit', 'Window', 'Bloom']
const kinds = [['single', 'digital'], ['mini', 'album'], ['album'], ['single', 'japanese']]

/** Generates the same comebacks each time; one in 4,000 has a rare artist. */
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

/** A separate function, so that its temporary objects are free before memory is measured. */
const snapshotText = (count: number): string => JSON.stringify([{ last_update: '2026-01-01 00:00:00 UTC' }, ...invent(count)])

/** Median milliseconds of one call, over at most about `budget` milliseconds. */
function time(action: () => void, budget: number): number {
  const samples: number[] = []
  const end = performance.now() + budget
  while (samples.length < 3 || (samples.length < 2000 && performance.now() < end)) {
    // A call of less than a microsecond cannot be measured alone.
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

const used = async () => {
  // The second collection frees the memory outside the heap of objects that the first one found.
  for (let turn = 0; turn < 2; turn++) {
    await setImmediate()
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}
const shown = (milliseconds: number) => `${milliseconds.toPrecision(3)} ms`

/** A separate function for the same reason. */
const load = async (text: string): Promise<Database> =>
  new BuiltDatabase(await loadSnapshot(text, comebacksDatabase.format), comebacksDatabase)

/** The longest time for which the event loop is blocked: how long a request may have to wait. */
async function longestPause(action: () => Promise<unknown>): Promise<number> {
  let [isDone, longest] = [false, 0]
  const others = async () => {
    for (let last = performance.now(); !isDone; ) {
      await setImmediate()
      const now = performance.now()
      longest = Math.max(longest, now - last)
      last = now
    }
  }
  const watching = others()
  await action()
  isDone = true
  await watching
  return longest
}

async function measure(count: number, { quick }: BenchOptions): Promise<void> {
  const budget = quick ? 5 : 500
  const text = snapshotText(count)
  const loads: number[] = []
  const before = await used()
  let database: Database | undefined
  for (let turn = 0; turn < 5; turn++) {
    const start = performance.now()
    database = await load(text)
    loads.push(performance.now() - start)
  }
  if (database === undefined) return
  const db = database
  const memoryUsed = (await used()) - before
  const loadTime = loads.sort((a, b) => a - b)[Math.floor(loads.length / 2)] ?? 0
  const size = Buffer.byteLength(text) / 2 ** 20
  const pause = await longestPause(() => load(text))
  const start = performance.now()
  JSON.parse(text)
  const parse = performance.now() - start
  record(`${count} entries: load / JSON.parse alone`, loadTime / parse, 'ratio')
  record(`${count} entries: memory / size of the JSON`, memoryUsed / size, 'ratio')
  record(`${count} entries: longest pause of a load`, pause, 'ms')
  console.log(
    `\n${count} entries, ${size.toFixed(1)} MiB of JSON: load ${loadTime.toFixed(0)} ms (${(loadTime / parse).toFixed(1)} of JSON.parse alone), memory ${memoryUsed.toFixed(0)} MiB (${(memoryUsed / size).toFixed(2)} of the JSON)`,
  )
  console.log(
    `longest pause of other work during a load: ${shown(pause)}, ${(parse / pause).toFixed(1)} times as long if JSON.parse read it at once (${shown(parse)})\n`,
  )
  const entries = invent(count)
  const { filter } = filtersOf('comebacks').text('artist', 'sample')
  console.log('| text | page at | naive filter | uncached | faster |\n|---|---|---|---|---|')
  for (const [kind, query] of Object.entries({ rare: 'zanzi', common: 'o', absent: 'quokka' })) {
    const total = select(db, filter, { artist: query }).length
    for (const [page, offset] of Object.entries({ first: 0, deep: Math.max(0, total - 50) })) {
      if (page === 'deep' && offset === 0) continue
      const request = { path: '/artist', values: { artist: query }, limit: 50, offset }
      const slow = time(() => naive(entries, query, offset), budget)
      const fresh = time(() => pageReply(db, select(db, filter, request.values), request), budget)
      record(`${count} entries, ${kind} text, ${page} page: naive filter / uncached`, slow / fresh, 'ratio')
      const cells = [`${kind} (${total})`, page, shown(slow), shown(fresh), (slow / fresh).toFixed(1)]
      console.log(`| ${cells.join(' | ')} |`)
    }
  }
}

async function measureHttp(options: BenchOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tickwarden-bench-'))
  try {
    await writeFile(join(folder, 'kcomebacks.json'), snapshotText(12_000))
    console.log()
    await againstBare('/v1/kcomebacks/filter/artist?artist=o&limit=50&offset=100', 0.6, options, { DATA_DIR: folder })
  } finally {
    // The killed service may still be writing to it.
    await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 100 })
  }
}

export async function run(options: BenchOptions): Promise<void> {
  const sizes = options.quick ? [1_000] : [12_000]
  for (const size of sizes) await measure(size, options)
  await measureHttp(options)
}
