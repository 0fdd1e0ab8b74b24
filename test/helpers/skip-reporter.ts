import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'
import { readSkips } from './skips.ts'

/**
 * Lists the skipped tests at the end of a run, with the reason of each. If REQUIRE_TOOLS=1 is set, as in CI, they fail the run,
 * except in a file whose skips are for features that a machine may not support.
 */
export default class SkipReporter implements Reporter {
  /** True if tests were filtered by name or path. */
  #isFiltered = false

  onInit({ config }: Vitest): void {
    this.#isFiltered = config.testNamePattern !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#isFiltered) return
    const reasons = readSkips()
    const skipped = modules.flatMap((module) => {
      const recorded = reasons.get(module.moduleId)
      return [...module.children.allTests('skipped')].map((test) => ({
        line: `  ${module.relativeModuleId} > ${test.fullName}: ${noteOf(test) || recorded?.text || 'skipped in the code, without a reason'}`,
        isAllowed: recorded?.isAllowed === true && !noteOf(test),
      }))
    })
    if (skipped.length === 0) return
    console.log(`\n${skipped.length} skipped:\n${skipped.map(({ line }) => line).join('\n')}`)
    if (process.env.REQUIRE_TOOLS !== '1' || skipped.every(({ isAllowed }) => isAllowed)) return
    console.error('\nREQUIRE_TOOLS=1 is set: the run has failed, because tests were skipped.')
    process.exitCode = 1
  }
}

function noteOf(test: TestCase): string | undefined {
  const result = test.result()
  return result.state === 'skipped' ? result.note : undefined
}
