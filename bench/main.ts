import { readdirSync } from 'node:fs'

/**
 * Runs every `bench/*.bench.ts` (or those named on the command line), one after the other.
 * Each exports `run()`, which prints what it measured as ratios against something in the same run.
 */
const wanted = process.argv.slice(2)
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -'.bench.ts'.length))
  .filter((name) => wanted.length === 0 || wanted.includes(name))

for (const name of names) {
  console.log(`\n## ${name}`)
  const { run } = (await import(`./${name}.bench.ts`)) as { run: () => Promise<void> }
  await run()
}
