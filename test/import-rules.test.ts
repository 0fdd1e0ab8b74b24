import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ensure } from './tools/ensure.mjs'

const root = resolve(import.meta.dirname, '..')

/** One file for each way to break a rule, and the rule. */
const broken: Readonly<Record<string, readonly [text: string, rule: string]>> = {
  'src/main.ts': ["import { a } from './util/clock.ts'", 'typescript-is-read'],
  'src/util/clock.ts': ["import type { A } from '../game/type.ts'", 'only-below-src/util'],
  // A circle is reported once.
  'src/game/again.ts': ["export type B = import('./type.ts').B", 'no-circles'],
  'src/game/type.ts': ["import type { B } from './again.ts'\nexport type { B }", ''],
  'src/game/metrics.ts': ["import client from 'prom-client'", 'prom-client-in-exporter'],
  'src/game/server.ts': ["const server = await import('fastify')", 'game-serves-nothing'],
  'src/game/environment.ts': ["import process from 'node:process'", 'process-in-config'],
  'src/game/protocol/packet.ts': ["import '../socket.ts'", 'protocol-is-pure'],
  'src/game/socket.ts': ["import '../../test/helper.ts'", 'no-tests-in-the-service'],
  'src/live/events.ts': ["export * from '../history/rows.ts'", 'no-other-served-part-from-src/live'],
  'src/history/rows.ts': ["import {\n  a,\n} from '../live/events.ts'", 'only-below-src/history'],
  'src/web/page.ts': ["import '../history/rows.ts'\nimport '../live/events.ts'", ''],
  'src/new-part/new.ts': ["import '../game/type.ts'", 'every-part-has-a-place'],
  'test/helper.ts': ['export {}', ''],
}

describe('the import rules', () => {
  it('refuse each kind of import that they forbid', async () => {
    await ensure('test/tools')
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-imports-'))
    for (const [path, [text]] of Object.entries(broken)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), `${text}\n`)
    }
    const args = ['--config', join(root, '.dependency-cruiser.mjs'), '--output-type', 'json', 'src']
    const output = await new Promise<string>((done) => {
      execFile(join(root, 'test/tools/node_modules/.bin/depcruise'), args, { cwd: folder }, (_, stdout) => done(stdout))
    })
    rmSync(folder, { recursive: true })
    const { violations } = (JSON.parse(output) as { summary: { violations: { from: string; rule: { name: string } }[] } }).summary
    for (const [path, [, rule]] of Object.entries(broken)) {
      const names = violations.filter(({ from }) => from === path).map(({ rule: { name } }) => name)
      if (rule === '') expect(names, path).toEqual([])
      else expect(names, path).toContain(rule)
    }
  })
})

describe('what only one place does', () => {
  const files = ['src', 'exporter'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !join(folder, path).startsWith('src/web/client/'))
      .map((path) => join(folder, path)),
  )
  const filesWith = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8'))).sort()

  it('only config.ts reads the environment', () => {
    expect(filesWith(/process\s*\.\s*env\b/)).toEqual(['src/config/config.ts'])
  })

  it('only parseJson() parses JSON, except for files of the package and single strings', () => {
    expect(filesWith(/\bJSON\.parse\(|\.json\(\)/)).toEqual([
      'src/commands/record/anonymiser.ts',
      'src/secrets/masked-log.ts',
      'src/util/json.ts',
      'src/util/package.ts',
      'src/web/assets.ts',
    ])
  })

  it('only files.ts reads whole files, except for those of the package and the kernel', () => {
    expect(filesWith(/\breadFile(?:Sync)?\(|\bcreateReadStream\(|\breadFile(?:Sync)?\b.*from 'node:fs/)).toEqual([
      'src/commands/init/files.ts',
      'src/commands/init/find-servers.ts',
      'src/util/package.ts',
      'src/web/assets.ts',
      'src/web/pictures/font.ts',
    ])
  })

  it('only program.ts ends the process', () => {
    expect(filesWith(/process\s*\.\s*(exit|exitCode|argv)\b/)).toEqual(['src/commands/program.ts'])
  })
})
