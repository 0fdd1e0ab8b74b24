import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fieldTable, serverSettingTable, sourceTable } from '../../../docs/src/tables.ts'
import { buildApp } from '../../../src/app.ts'
import { settingsHelp } from '../../../src/commands/settings-help.ts'
import { type Config, loadConfig } from '../../../src/config/config.ts'
import { createFleet } from '../../../src/game/fleet.ts'
import { precedence } from '../../../src/game/merge.ts'
import { createSources } from '../../../src/game/sources/create-sources.ts'
import type { SourceName } from '../../../src/game/sources/names.ts'
import type { SourceContext } from '../../../src/game/sources/source.ts'
import { parseWatchOptions, type ServerOptions } from '../../../src/library/options.ts'
import { silentLog } from '../../../src/util/log.ts'
import { configProblems } from '../../helpers/config-problems.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { toy } from '../../helpers/toy-source.ts'
import { testSource } from './testSource.ts'

// The toy is only added to the list, like any source.
vi.mock('../../../src/game/sources/index.ts', async (original) => {
  const { sources } = await original<typeof import('../../../src/game/sources/index.ts')>()
  const { toy } = await import('../../helpers/toy-source.ts')
  return { sources: [...sources, toy] }
})

const folder = mkdtempSync(join(tmpdir(), 'tickwarden-new-source-'))
function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

interface Described {
  readonly sources: readonly {
    source: string
    configured: boolean
    state: string
    target: string
    lastError: { message: string }
  }[]
  readonly fields: Readonly<Record<string, { source: string | null; setting: string | null }>>
}

/** The reply of `/api/v1/sources` for the first server after one poll. */
async function described(servers: Config['servers']) {
  const clock = manualClock()
  const poll = { interval: 5_000, timeout: 3_000, staleAfter: 15_000 }
  const fleet = createFleet({ servers, poll, clock, log: silentLog, createSources })
  const app = await buildApp({ config: loadConfig({ env: {} }), fleet, clock, logger: pino({ level: 'silent' }) })
  onTestFinished(async () => {
    fleet.close()
    await app.close()
  })
  await fleet.watchers[0]!.poll()
  const { sources, fields } = (await app.inject('/api/v1/sources')).json<Described>()
  return { toy: sources.find(({ source }) => source === 'toy'), fields, openapi: (await app.inject('/openapi.json')).body }
}

describe('a source that is added to the list', () => {
  it('has its settings in the config file, the environment and --help', () => {
    const token = file('token', 'secret\n')
    const path = file('a.yaml', `servers:\n  - { address: "[::1]:1", toy: { address: toy.test, tokenFile: ${token} } }\n`)
    expect(loadConfig({ env: {}, file: path }).servers[0]?.sources).toMatchObject({
      toy: { address: { host: 'toy.test', port: 7 }, token: 'secret' },
    })
    const env = { MC_SERVER: 'mc.test', MC_TOY: 'toy.test:8', MC_TOY_TOKEN_FILE: token }
    expect(loadConfig({ env }).servers[0]?.sources).toMatchObject({ toy: { address: { host: 'toy.test', port: 8 } } })
    expect(settingsHelp()).toMatch(/^ {2}MC_TOY +toy address \[off\]$/m)
    expect(settingsHelp()).toMatch(/^ {2}MC_TOY_TOKEN +toy token$/m)
  })

  it('has its settings checked', () => {
    expect(configProblems({ env: { MC_SERVER: 'x', MC_TOY: 'h' } })).toEqual([
      'MC_TOY is set without MC_TOY_TOKEN (or MC_TOY_TOKEN_FILE)',
    ])
    expect(configProblems({ env: { MC_SERVER: 'x', MC_TOY_TOKEN: 't' } })).toEqual(['MC_TOY_TOKEN is set without MC_TOY'])
    expect(configProblems({ env: { MC_TOY: 'h', MC_TOY_TOKEN: 't' } })).toEqual([
      'MC_TOY is set without MC_SERVER or MC_DIRECTORY',
    ])
    const path = file('b.yaml', 'servers:\n  - { address: x, toy: { adress: y } }\n')
    expect(() => loadConfig({ env: {}, file: path })).toThrow(/toy\.adress: unknown setting; did you mean toy\.address\?/)
  })

  it('takes its place in the precedence', () => {
    expect(precedence.motd[0]).toBe('toy')
    expect(precedence.map).toContain('toy')
    expect(precedence.map.indexOf('toy' as SourceName)).toBeGreaterThan(precedence.map.indexOf('query'))
  })

  it('is polled and described by /api/v1/sources', async () => {
    const { servers } = loadConfig({ env: { MC_SERVER: '127.0.0.1:1', MC_TOY: 'toy.test', MC_TOY_TOKEN: 'right' } })
    const { toy, fields, openapi } = await described(servers)
    expect(toy).toMatchObject({ configured: true, state: 'ok', target: 'toy.test:7' })
    expect(fields.motd).toEqual({ source: 'toy', setting: null })
    expect(openapi).toMatch(/"directory"[^\]]*,"toy"\]/)
  })

  it('provides its hints', async () => {
    const off = await described(loadConfig({ env: { MC_SERVER: '127.0.0.1:1' } }).servers)
    expect(off.toy).toMatchObject({ configured: false, state: 'off' })
    expect(off.fields.map?.setting).toMatch(
      /^set enable-query=true and MC_QUERY.* to see the map; or set toy=true and MC_TOY to see the map \(Toyland\)$/,
    )
    const env = { MC_SERVER: '127.0.0.1:1', MC_TOY: 'toy.test', MC_TOY_TOKEN: 'wrong' }
    const wrong = await described(loadConfig({ env }).servers)
    expect(wrong.toy?.lastError.message).toMatch(/refused; the token must be the toy\.token of its server\.properties$/)
    expect(wrong.fields.map?.setting).toContain('toy fails (auth): check toy=true and MC_TOY to see the map (Toyland)')
  })

  it('is completed from the directory of the server', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tickwarden-new-source-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    writeFileSync(join(directory, 'server.properties'), 'toy.token=right\nserver-port=1\n')
    const { toy } = await described(loadConfig({ env: { MC_DIRECTORY: directory, MC_TOY: 'toy.test' } }).servers)
    expect(toy).toMatchObject({ state: 'ok' })
  })

  it('has options in the library', () => {
    const { server } = parseWatchOptions({ address: 'x', toy: { address: 'toy.test', token: 'right' } } as ServerOptions)
    expect(server.sources).toMatchObject({ toy: { address: { host: 'toy.test', port: 7 }, token: 'right' } })
  })

  it('is in the generated tables', () => {
    expect(sourceTable()).toMatch(
      /^\| \[Toy\]\(#toy\) +\| `toy` +\| Java +\| `toy=true` and `MC_TOY` +\| message of the day, map +\| nothing +\|$/m,
    )
    expect(serverSettingTable()).toMatch(/^\| `MC_TOY_TOKEN`, `MC_TOY_TOKEN_FILE` +\| `toy\.token`, `toy\.tokenFile` +\|/m)
    expect(fieldTable()).toMatch(/^\| `map` .*\| query, .*toy \(Toyland\).* +\|$/m)
  })
})

const subject = (token: string) => async () => ({
  make: (context: SourceContext) => toy.create({ address: { host: 'toy.test', port: 7 }, token }, context),
  close() {},
})
testSource('toy' as SourceName, { good: subject('right'), hostile: { 'refuses the token': subject('wrong') } })
