import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { bundleChild } from '../helpers/bundle-child.ts'
import { parses } from './coverage.ts'
import type { CoverageReply, CoverageRequest } from './coverage-child.ts'
import { fromText, toText } from './input-text.ts'
import { otherParsers } from './other-parsers.ts'
import { ProcessFailure, ReaderProcesses } from './process.ts'
import { firstExample } from './progress.ts'
import { readers } from './readers.ts'
import type { RunReply, RunRequest } from './run-child.ts'
import { type Failure, type Inputs, inputAt, longer, sizeOf, sortedInputs } from './run-reader.ts'

/** Inputs for each reader; `npm run fuzz` sets more. */
const runs = Number(process.env.FUZZ_RUNS ?? 2_000)
/** Readers that run at the same time: many of them wait for a connection most of the time. */
const processCount = Number(process.env.FUZZ_PROCESSES ?? 1)
/** One for all readers, so that one number repeats everything. */
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const root = join(import.meta.dirname, '..', '..')
const corpus = join(import.meta.dirname, 'corpus')
/**
 * Blocks of code that an input may take, and how many more for each of its bytes: twice what the slowest reader takes. A request by HTTP
 * takes about 8,000, however short the input is, and some hundred more if it arrives in other pieces.
 */
const [fixedSteps, stepsPerByte] = [16_000, 500]
/** How many inputs of a long run are looked at for ones that execute other code than those before them, and are kept. */
const triedCount = process.env.FUZZ_KEEP ? 2_000 : 0
/** Characters, bytes or elements of an input in which work that grows with the square of the size exceeds these steps. */
const longSize = 16_384
/** Characters of an input in a message. */
const maxShown = 2_000
/** KiB by which the memory of the process may grow with a reader, garbage included. */
const maxGrownBy = 256 * 1024

const fileOf = (name: string): string => join(corpus, `${name.replaceAll(/\W+/g, '-')}.jsonl`)

function keptInputs(name: string): readonly unknown[] {
  const file = fileOf(name)
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').map(fromText) : []
}

/** Kept for the next run; it stays in the repository once the reader is mended. */
function keep(name: string, input: unknown): void {
  if (!process.env.FUZZ_KEEP) return
  mkdirSync(corpus, { recursive: true })
  writeFileSync(fileOf(name), `${toText(input)}\n`, { flag: 'a' })
}

function fail(name: string, { input, reason }: Failure): never {
  keep(name, input)
  throw new Error(`FUZZ_SEED=${seed}: ${name} failed for ${toText(input).slice(0, maxShown)}: ${reason}`)
}

it('keeps inputs of no reader that is gone', () => {
  const files = Object.keys(readers).map(fileOf)
  expect(readdirSync(corpus).filter((file) => !files.includes(join(corpus, file)))).toEqual([])
})

/** Loads in a fifth of the CPU time. Only the coverage needs the files of the source. */
const runChild = await bundleChild(join(import.meta.dirname, 'run-child.ts'))

console.log(`FUZZ_SEED=${seed}`)

describe(`seed ${seed}`, () => {
  const running = new ReaderProcesses<RunRequest, RunReply>(runChild, processCount)
  const counting = new ReaderProcesses<CoverageRequest, CoverageReply>('coverage-child.ts', 1)
  afterAll(() => {
    running.close()
    counting.close()
  })
  let covered: CoverageReply | undefined

  async function run(name: string, inputs: Inputs): Promise<RunReply> {
    try {
      return await running.ask({ name, inputs })
    } catch (error) {
      if (!(error instanceof ProcessFailure)) throw error
      const { number, message: reason } = error
      const isExample = number >= firstExample
      const input = isExample ? inputs.examples[number - firstExample] : await inputAt(inputs, number)
      return { failure: { input, reason }, slowest: [], grownBy: 0 }
    }
  }

  const test = processCount === 1 ? it : it.concurrent

  test.each(Object.keys(readers))('%s', async (name) => {
    const reader = readers[name]!
    const valid = reader.examples.slice(0, reader.validCount)
    const kept = keptInputs(name)
    const count = Math.ceil(runs / (reader.isSlow && process.env.FUZZ_RUNS === undefined ? 20 : 1))
    const { failure, slowest, grownBy } = await run(name, { examples: reader.examples, kept, seed, count })
    if (failure !== undefined) fail(name, failure)
    expect(grownBy, 'growth of the process in KiB').toBeLessThan(maxGrownBy)
    const tried = triedCount === 0 ? [] : await sortedInputs({ examples: reader.examples, kept, seed, count: triedCount })
    const measured = [slowest, valid.map((example) => longer(example, longSize))].map((group) =>
      group.map((input) => ({ input, tooMany: fixedSteps + stepsPerByte * sizeOf(input) })),
    )
    covered = await counting.ask({ name, kept, tried, measured })
    for (const index of covered.interesting) keep(name, tried[index])
    for (const [index, { input, tooMany }] of measured.flat().entries()) {
      const steps = covered.steps[index]!
      if (steps >= tooMany) fail(name, { input, reason: `it took ${steps} steps` })
    }
  })

  it('calls each function that takes text or bytes apart', () => {
    if (covered === undefined) throw new Error('no reader has been run')
    const { loaded, notCalled } = covered
    const notLoaded = ['src', 'exporter'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .map((path) => join(folder, path))
        .filter((path) => path.endsWith('.ts') && !loaded.includes(path) && parses(readFileSync(join(root, path), 'utf8'))),
    )
    const all = [...notCalled, ...notLoaded]
    const isIn = (name: string, other: string) => (other.endsWith('/') ? name.startsWith(other) : name === other)
    const others = Object.keys(otherParsers)
    expect(all.filter((name) => !others.some((other) => isIn(name, other)))).toEqual([])
    expect(others.filter((other) => !all.some((name) => isIn(name, other)))).toEqual([])
  })
})
