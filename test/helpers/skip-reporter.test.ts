import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const modules = join(import.meta.dirname, '..', '..', 'node_modules')

/** Runs vitest on a test file with that text, as this project configures its reporters. */
function run(text: string, env: Readonly<Record<string, string>> = {}, args: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'skips-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'a.test.ts'), `import { it } from 'vitest'\n${text}\nit('runs', () => {})\n`)
  symlinkSync(modules, join(folder, 'node_modules'))
  const reporter = join(import.meta.dirname, 'skip-reporter.ts')
  const config = `import SkipReporter from '${reporter}'\nexport default { test: { reporters: ['default', new SkipReporter()] } }`
  writeFileSync(join(folder, 'vitest.config.ts'), config)
  const vitest = join(modules, 'vitest', 'vitest.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, 'run', '--root', folder, ...args], {
    env: { PATH: process.env.PATH, TMPDIR: folder, ...env },
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

const strict = { REQUIRE_TOOLS: '1' }
const helpers = `import { hasTool, isSupported } from '${join(import.meta.dirname, 'require-tool.ts')}'`

it('lists what was skipped, with the reasons', () => {
  const { status, output } = run(`${helpers}
    it.skipIf(!hasTool('no-such-program'))('a', () => {})
    it('b', ({ skip }) => skip('no network'))`)
  expect(status).toBe(0)
  expect(output).toContain('2 skipped:\n  a.test.ts > a: no-such-program is not installed\n  a.test.ts > b: no network\n')
})

it.each([
  ['in the code', `it.skip('a', () => {})`, 'a.test.ts > a: skipped in the code, without a reason'],
  ['while it runs', `it('a', ({ skip }) => skip('no network'))`, 'a.test.ts > a: no network'],
  [
    'because a tool is missing',
    `${helpers}\nit.skipIf(!hasTool('no-such-program'))('a', () => {})`,
    'no-such-program is not installed',
  ],
])('fails the run with REQUIRE_TOOLS=1 if a test is skipped %s', (_, text, reason) => {
  const { status, output } = run(text, strict)
  expect(status).toBe(1)
  expect(output).toContain(reason)
})

it('does not fail it for unsupported features, nor if tests are filtered by name', () => {
  const { status, output } = run(`${helpers}\nit.skipIf(!isSupported(false, 'no such system'))('a', () => {})`, strict)
  expect([status, output]).toEqual([0, expect.stringContaining('a.test.ts > a: no such system')])
  const chosen = run(`it.skip('a', () => {})`, strict, ['--testNamePattern', 'runs'])
  expect([chosen.status, chosen.output]).toEqual([0, expect.not.stringContaining('skipped:')])
})
