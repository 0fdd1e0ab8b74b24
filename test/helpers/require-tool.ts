import { spawnSync } from 'node:child_process'

/**
 * True when the program is installed. A test without its tool is skipped (`it.skipIf(!hasTool('promtool'))`),
 * but where REQUIRE_TOOLS=1 is set, as in CI, a missing tool is a failure.
 */
export function hasTool(program: string): boolean {
  if (spawnSync('sh', ['-c', `command -v ${program}`]).status === 0) return true
  if (process.env.REQUIRE_TOOLS === '1') throw new Error(`${program} is not installed, and REQUIRE_TOOLS=1 asks for it`)
  return false
}
