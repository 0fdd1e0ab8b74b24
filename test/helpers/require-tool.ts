import { spawnSync } from 'node:child_process'
import { TestRunner } from 'vitest'
import { recordSkip } from './skips.ts'

/**
 * True if the program is installed. A test without its tool is skipped (`it.skipIf(!hasTool('promtool'))`), but if
 * REQUIRE_TOOLS=1 is set, as in CI, a missing tool is a failure.
 */
export function hasTool(program: string): boolean {
  return isPossible(isInstalled(program), `${program} is not installed`)
}

/**
 * Skips the current test if a helper needs a program that is not installed; outside of a test, it fails with the name of the program
 * and not with ENOENT.
 */
export function needTool(program: string): void {
  if (hasTool(program)) return
  const problem = `${program} is not installed`
  TestRunner.getCurrentTest()?.context.skip(problem)
  throw new Error(problem)
}

/** True if the program is installed, for tests that also work without it. */
export const isInstalled = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** The same for a module of the system's Python. */
export function hasPythonModule(name: string): boolean {
  return isPossible(spawnSync('/usr/bin/python3', ['-c', `import ${name}`]).status === 0, `Python's ${name} is not installed`)
}

/** The same for a font of the system with the letters of a language. */
export function hasFont(language: string): boolean {
  const { stdout } = spawnSync('fc-list', [`:lang=${language}`])
  return isPossible(stdout !== null && stdout.length > 0, `no font for "${language}" is installed`)
}

/** The same for the npm registry. The time limit is that of the request: on a busy machine, npm may take longer to load. */
export function hasRegistry(): boolean {
  const { status } = spawnSync('npm', ['ping', '--fetch-timeout=20000', '--fetch-retries=0'])
  return isPossible(status === 0, 'the npm registry cannot be reached')
}

/** @param problem why the test is skipped, for the list at the end of the run */
function isPossible(condition: boolean, problem: string): boolean {
  if (!condition && process.env.REQUIRE_TOOLS === '1') throw new Error(`${problem}, and REQUIRE_TOOLS=1 is set`)
  if (!condition) recordSkip(problem, false)
  return condition
}

/** For features that a machine may not support: without them the tests are skipped, even if REQUIRE_TOOLS=1 is set. */
export function isSupported(condition: boolean, problem: string): boolean {
  if (!condition) recordSkip(problem, true)
  return condition
}
