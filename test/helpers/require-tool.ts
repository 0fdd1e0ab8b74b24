import { spawnSync } from 'node:child_process'

/**
 * True when the program is installed. A test without its tool is skipped (`it.skipIf(!hasTool('promtool'))`),
 * but where REQUIRE_TOOLS=1 is set, as in CI, a missing tool is a failure.
 */
export function hasTool(program: string): boolean {
  return isThere(program, isInstalled(program))
}

/** True when the program is installed, for what works without it too. */
export const isInstalled = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** The same for a module of the system's Python. */
export function hasPythonModule(name: string): boolean {
  return isThere(`Python's ${name}`, spawnSync('/usr/bin/python3', ['-c', `import ${name}`]).status === 0)
}

function isThere(tool: string, found: boolean): boolean {
  if (!found && process.env.REQUIRE_TOOLS === '1') throw new Error(`${tool} is not installed, and REQUIRE_TOOLS=1 asks for it`)
  return found
}
