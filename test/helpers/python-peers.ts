import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cachedFolder } from '../tools/user-cache.mjs'

const requirements = join(import.meta.dirname, '../peers/requirements.txt')

/** The Python interpreter with the packages of `test/peers/requirements.txt`, or why there is none. */
export type PythonPeers = { readonly python: string } | { readonly reason: string }

/**
 * Installs the packages once, and again when the requirements or Python change.
 * @throws Error if that fails and REQUIRE_TOOLS=1 is set, as in CI
 */
export async function ensurePythonPeers(): Promise<PythonPeers> {
  try {
    const { stdout: version } = await run('python3', '-c', 'import sys; print(sys.version, sys.base_prefix)')
    const folder = await cachedFolder('python-peers', version + readFileSync(requirements, 'utf8'), async (venv) => {
      await run('python3', '-m', 'venv', venv)
      const options = ['--quiet', '--no-compile', '--disable-pip-version-check', '--requirement', requirements]
      await run(pythonOf(venv), '-m', 'pip', 'install', ...options)
    })
    return { python: pythonOf(folder) }
  } catch (error) {
    if (process.env.REQUIRE_TOOLS === '1') throw error
    return { reason: (error as Error).message }
  }
}

const pythonOf = (venv: string): string => join(venv, 'bin/python')

async function run(program: string, ...args: readonly string[]) {
  try {
    return await promisify(execFile)(program, args, { timeout: 240_000 })
  } catch (error) {
    const { message, stderr = '' } = error as Error & { stderr?: string }
    throw new Error(`${program} ${args.slice(0, 3).join(' ')} failed: ${stderr.trim().slice(-300) || message}`)
  }
}
