import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Some tests run the built command, which is built once before them. All temporary files are in one folder that is removed after
 * the run, because tests that fail or are killed, and some programs, leave files behind.
 */
export default function setup(): () => void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-tests-'))
  // A test run by root reads as another user, who needs access.
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  // A browser may still write into it for a moment.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
}
