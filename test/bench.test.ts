import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const names = readdirSync(join(root, 'bench')).flatMap((file) => /^(.+)\.bench\.ts$/.exec(file)?.[1] ?? [])

// A quick run measures nothing: it only checks that each bench still completes.
it('every bench runs', async () => {
  const main = join(root, 'bench', 'main.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', main, '--quick'], { cwd: root })
  const sections = stdout.split(/^## /m).slice(1)
  expect(sections.map((section) => /^\S+/.exec(section)?.[0])).toEqual(names)
  for (const section of sections) expect(section, section).toMatch(/\n.*\d/)
}, 600_000)
