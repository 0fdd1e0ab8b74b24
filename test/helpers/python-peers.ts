import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../peers')
const requirements = join(folder, 'requirements.txt')
const venv = join(folder, 'venv')
const installed = join(venv, 'installed.txt')

/** The Python interpreter with the clients of `test/peers/requirements.txt`, or why there is none. */
export type PythonPeers = { readonly python: string } | { readonly reason: string }

/**
 * Installs the clients once, and again when the requirements change.
 * @throws Error where that fails and REQUIRE_TOOLS=1 is set, as in CI
 */
export function ensurePythonPeers(): PythonPeers {
  const wanted = readFileSync(requirements, 'utf8')
  const python = join(venv, 'bin/python')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return { python }
  const steps = [
    ['python3', '-m', 'venv', '--clear', venv],
    [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', requirements],
  ] as const
  for (const [program, ...args] of steps) {
    const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: 240_000 })
    if (status === 0) continue
    const reason = `${program} ${args.slice(0, 3).join(' ')} failed: ${error?.message ?? stderr.trim().slice(-300)}`
    if (process.env.REQUIRE_TOOLS === '1') throw new Error(reason)
    return { reason }
  }
  writeFileSync(installed, wanted)
  return { python }
}
