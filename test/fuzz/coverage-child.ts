// A process that counts what readers execute, one for each message.
import { fileURLToPath } from 'node:url'
import { startCoverage } from './coverage.ts'
import { writeProgress } from './progress.ts'

export interface CoverageRequest {
  readonly name: string
  /** Run after the examples, but not measured. */
  readonly kept: readonly unknown[]
  /** Run after those. */
  readonly tried: readonly unknown[]
  /** Run after those, and measured: groups of inputs of similar sizes. */
  readonly measured: readonly (readonly MeasuredInput[])[]
}

export interface MeasuredInput {
  readonly input: unknown
  /** The steps from which the input takes too many. */
  readonly tooMany: number
}

export interface CoverageReply {
  /** Indices of the tried inputs that execute code which none before them has. */
  readonly interesting: readonly number[]
  /** Upper limit of the blocks of code that each measured input takes, in the order of the groups. */
  readonly steps: readonly number[]
  /** Files of the project that have been loaded since the start. */
  readonly loaded: readonly string[]
  /** Functions in them that parse, and have not been called since the start. */
  readonly notCalled: readonly string[]
}

const coverage = startCoverage(fileURLToPath(new URL('../..', import.meta.url)))
// Counted only if it is loaded after the start.
const { readers } = await import('./readers.ts')
const { deadline, notWholeMs, wholeMs } = await import('./peer-readers.ts')

process.on('message', async ({ name, kept, tried, measured }: CoverageRequest) => {
  const { run, examples, validCount } = readers[name]!
  let number = 0
  async function runOnce(input: unknown): Promise<void> {
    writeProgress(number++)
    try {
      await run(input as never)
    } catch {}
  }
  /** Since the coverage was last taken, which takes longer than most readers. */
  async function stepsOf(input: unknown): Promise<number> {
    await runOnce(input)
    return coverage.take().steps
  }
  // Also because the first call of a reader may load modules, and compute tables.
  for (const [index, input] of [...examples, ...kept].entries()) {
    deadline.ms = index < validCount ? wholeMs : notWholeMs
    await runOnce(input)
  }
  deadline.ms = notWholeMs
  coverage.take()
  const interesting: number[] = []
  for (const [index, input] of tried.entries()) {
    await runOnce(input)
    if (coverage.take().newBlocks > 0) interesting.push(index)
  }
  const steps: number[] = []
  for (const group of measured) {
    // Together, because reading the coverage takes longer than most readers. An input takes at most the steps of its group.
    for (const { input } of group) await runOnce(input)
    const together = coverage.take().steps
    for (const { input, tooMany } of group) {
      // Too many only if it takes them alone and twice: code that is still being loaded counts too.
      const first = together < tooMany ? together : await stepsOf(input)
      steps.push(first < tooMany ? first : Math.min(first, await stepsOf(input)))
    }
  }
  process.send!({ interesting, steps, ...coverage.found() } satisfies CoverageReply)
})
