import type { Reporter, TestModule } from 'vitest/node'
import { readSkips } from './skips.ts'

/** Lists the skipped tests at the end of a run, with the reason of each. */
export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const reasons = readSkips()
    const lines = modules.flatMap((module) => {
      const why = [...(reasons.get(module.moduleId) ?? [])].join(', ')
      return [...module.children.allTests('skipped')].map((test) => {
        const result = test.result()
        const note = result.state === 'skipped' ? result.note : undefined
        return `  ${module.relativeModuleId} > ${test.fullName}: ${note || why || 'skipped in the code, without a reason'}`
      })
    })
    if (lines.length > 0) console.log(`\n${lines.length} skipped:\n${lines.join('\n')}`)
  }
}
