import { readdirSync } from 'node:fs'

/**
 * Runs every `bench/*.bench.ts` (or those named on the command line), one after the other.
 * Each exports `run()`, which prints what it measured as ratios against something in the same run.
 */
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
  console.log(`\n## ${name}`)
  const { run } = (await import(`./${name}.bench.ts`)) as { run: () => Promise<void> }
  await run()
}
