import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BenchRuns, type Result, renderResults, takeResults } from './results.ts'

/**
 * Runs every `bench/*.bench.ts`, or those named on the command line, one after the other; `--quick` only checks that they work.
 * Each exports `run(options)`, prints ratios to something in the same run, and records each number for `bench/results.md`.
 */
export interface BenchOptions {
  readonly quick: boolean
}

/** Maximum duration of one run of a bench, in milliseconds, so that a bench that hangs does not block the others. */
const maxDuration = 15 * 60_000
/** All benches together take a quarter of an hour. */
const defaultRepeat = 1

const quick = process.argv.includes('--quick')
const repeatOption = process.argv.find((argument) => argument.startsWith('--repeat='))?.slice('--repeat='.length)
const repeat = quick ? 1 : Number(repeatOption ?? defaultRepeat)
// Other options are for the benches.
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -'.bench.ts'.length))

const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`There is no bench "${unknown.join('", "')}"; there are ${names.join(', ')}.`)
  process.exit(2)
}
if (!Number.isInteger(repeat) || repeat < 1) {
  console.error(`--repeat is ${repeatOption}; expected an integer from 1.`)
  process.exit(2)
}

const all: BenchRuns[] = []
for (const name of names.filter((name) => wanted.length === 0 || wanted.includes(name))) {
  console.log(`\n## ${name}${quick ? ' (quick: the numbers are not meaningful)' : ''}`)
  const { run } = (await import(`./${name}.bench.ts`)) as { run: (options: BenchOptions) => Promise<void> }
  const runs: (readonly Result[])[] = []
  for (let count = 0; count < repeat; count++) {
    const timeout = setTimeout(() => {
      console.error(`The bench "${name}" did not finish within ${maxDuration / 1000} s.`)
      process.exit(1)
    }, maxDuration)
    await run({ quick })
    clearTimeout(timeout)
    runs.push(takeResults())
  }
  all.push({ name, runs })
}

const page = renderResults(all)
// Some of the benches, or a quick run, must not replace the results of all.
if (quick || wanted.length > 0) console.log(`\n${page.slice(page.indexOf('| bench'))}`)
else writeFileSync(join(import.meta.dirname, 'results.md'), page)
