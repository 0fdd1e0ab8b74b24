import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { lock } from 'proper-lockfile'

const root = join(import.meta.dirname, '..', '..')

/**
 * The tarball of the project, and the paths of its files. It is packed once in a run, in whose temporary folder it is kept: npm takes
 * four seconds of CPU time.
 */
export async function packProject(): Promise<{ readonly tarball: string; readonly paths: readonly string[] }> {
  const folder = join(tmpdir(), 'packed-project')
  mkdirSync(folder, { recursive: true })
  const report = join(folder, 'packed.json')
  // Test files run at the same time: the others wait while one packs.
  const release = await lock(folder, { retries: { forever: true, factor: 1, minTimeout: 200 } })
  try {
    if (!existsSync(report)) {
      const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
      const { stdout } = await promisify(execFile)('npm', args, { cwd: root })
      writeFileSync(report, stdout)
    }
  } finally {
    await release()
  }
  const [{ filename, files }] = JSON.parse(readFileSync(report, 'utf8')) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ]
  return { tarball: join(folder, filename), paths: files.map(({ path }) => path) }
}
