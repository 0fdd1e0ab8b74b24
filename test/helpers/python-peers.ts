import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { lock } from 'proper-lockfile'

const folder = join(import.meta.dirname, '../peers')
const requirements = join(folder, 'requirements.txt')
const venv = join(folder, 'venv')
const installed = join(venv, 'installed.txt')

/** The Python interpreter with the packages of `test/peers/requirements.txt`, or why there is none. */
export type PythonPeers = { readonly python: string } | { readonly reason: string }

/**
 * Installs the packages once, and again when the requirements change. Test files that run at the same time wait for each other.
 * @throws Error if that fails and REQUIRE_TOOLS=1 is set, as in CI
 */
export async function ensurePythonPeers(): Promise<PythonPeers> {
  const release = await lock(requirements, { retries: { forever: true, minTimeout: 100, maxTimeout: 100 } })
  try {
    return await install()
  } finally {
    await release()
  }
}

async function install(): Promise<PythonPeers> {
  const wanted = readFileSync(requirements, 'utf8')
  const python = join(venv, 'bin/python')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return { python }
  const steps = [
    ['python3', '-m', 'venv', '--clear', venv],
    [python, '-m', 'pip', 'install', '--quiet', '--no-compile', '--disable-pip-version-check', '--requirement', requirements],
  ] as const
  for (const [program, ...args] of steps) {
    try {
      await promisify(execFile)(program, args, { timeout: 240_000 })
    } catch (error) {
      const { message, stderr = '' } = error as Error & { stderr?: string }
      const reason = `${program} ${args.slice(0, 3).join(' ')} failed: ${stderr.trim().slice(-300) || message}`
      if (process.env.REQUIRE_TOOLS === '1') throw new Error(reason)
      return { reason }
    }
  }
  writeFileSync(installed, wanted)
  return { python }
}
