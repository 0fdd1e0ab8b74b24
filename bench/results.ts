import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { arch, cpus, platform, release, totalmem } from 'node:os'

/** One number measured by a bench in one run. */
export interface Result {
  /** What was measured; for a ratio, also relative to what. */
  readonly what: string
  /** `ms`, `µs CPU`, `MiB`; `ratio` of two values measured in the same run. */
  readonly unit: string
  readonly value: number
  /** As text: `under 0.6`. */
  readonly goal?: string
}

let found: Result[] = []

/** Records a number for the table. The bench prints its results itself. */
export const record = (what: string, value: number, unit: string, goal?: string): void =>
  void found.push({ what, value, unit, ...(goal !== undefined && { goal }) })

/** Returns what was recorded since the last call. */
export function takeResults(): readonly Result[] {
  const taken = found
  found = []
  return taken
}

/** The results of one bench, of each of its runs. */
export interface BenchRuns {
  readonly name: string
  readonly runs: readonly (readonly Result[])[]
}

const shown = (value: number): string => {
  if (!Number.isFinite(value)) return '–'
  return Math.abs(value) >= 1_000 ? value.toFixed(0) : value.toPrecision(3)
}

function rowsOf({ name, runs }: BenchRuns): readonly string[] {
  const names = [...new Set(runs.flat().map(({ what }) => what))]
  return names.map((what) => {
    const results = runs.flat().filter((result) => result.what === what)
    const values = results.map(({ value }) => value).sort((a, b) => a - b)
    const median = values[values.length >> 1] ?? Number.NaN
    const spread = values.length > 1 ? `${shown(values[0] ?? Number.NaN)} to ${shown(values.at(-1) ?? Number.NaN)}` : '–'
    const { unit = '', goal = '' } = results[0] ?? {}
    return `| ${name} | ${what} | ${shown(median)} | ${spread} | ${values.length} | ${unit} | ${goal} |`
  })
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}

/** The page of all results: the machine, the versions, how to repeat it, and a row for each number. */
export function renderResults(all: readonly BenchRuns[]): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  const [first] = cpus()
  return `# Results of the benches

Written by \`npm run bench\`; to repeat it, run the same command on an otherwise idle machine (it takes about a quarter of an hour;
\`npm run bench -- fleet metrics\` runs some of them, \`--repeat=5\` sets the number of runs, \`--quick\` only checks that they work).
The median of the runs and their spread (minimum to maximum). A ratio compares two things of the same run, so that it can be compared
between machines; absolute numbers cannot.

- Machine: ${first?.model.trim() ?? 'unknown'}, ${cpus().length} processors, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, ${platform()} ${release()} ${arch()}
- Node.js ${process.version}, V8 ${process.versions.v8}, Tickwarden ${version} (${commit()})
- ${new Date().toISOString().slice(0, 10)}

| bench | what | median | spread | runs | unit | goal |
|---|---|--:|---|--:|---|---|
${all.flatMap(rowsOf).join('\n')}
`
}
