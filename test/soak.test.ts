import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { hasTool } from './helpers/require-tool.ts'

const root = join(import.meta.dirname, '..')

// Half an hour by default: docs/reliability.md.
it.skipIf(!hasTool('redis-server'))(
  'loses nothing and does not grow while everything changes',
  async () => {
    const args = ['--import', 'tsx', join(root, 'bench', 'soak.ts'), '--duration=60s']
    // Rejects if the soak has found a problem.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: root })
    expect(stderr).toBe('')
    expect(stdout).toMatch(/requests, of which failed \| [\d,]{3,}, 0 \|/)
  },
  300_000,
)
