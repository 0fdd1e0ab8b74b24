import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Some tests run the built command: built once, before any of them. Their temporary files lie in one folder, which goes
 * with the run: a test that fails or is killed cleans nothing up, nor does every program that a test starts.
 */
export default function setup(): () => void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-tests-'))
  // A test that root runs reads as another user, who must get there.
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
