import { readdirSync } from 'node:fs'

/**
 * Runs every `bench/*.bench.ts` (or those named on the command line), one after the other. With `--quick` each runs for about
 * a second: enough to see that it works, too short to measure.
 * Each exports `run(options)`, which prints what it measured as ratios against something in the same run.
 */
export interface BenchOptions {
  readonly quick: boolean
}

/** Longest time that one bench may take, in milliseconds: one that waits for what never comes must not hold up the others. */
const maxDuration = { quick: 60_000, full: 15 * 60_000 }

const quick = process.argv.includes('--quick')
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -'.bench.ts'.length))

const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`There is no bench "${unknown.join('", "')}"; there are ${names.join(', ')}.`)
  process.exit(2)
}

for (const name of names.filter((name) => wanted.length === 0 || wanted.includes(name))) {
  console.log(`\n## ${name}${quick ? ' (quick: the numbers mean nothing)' : ''}`)
  const limit = maxDuration[quick ? 'quick' : 'full']
  const timeout = setTimeout(() => {
    console.error(`The bench "${name}" did not finish within ${limit / 1000} s.`)
    process.exit(1)
  }, limit)
  const { run } = (await import(`./${name}.bench.ts`)) as { run: (options: BenchOptions) => Promise<void> }
  await run({ quick })
  clearTimeout(timeout)
}
