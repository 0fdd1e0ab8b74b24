import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { metricsTable } from '../../docs/src/metrics-table.ts'
import type { ServerFamily } from '../../exporter/families/family.ts'
import { demoFlags } from '../../src/commands/demo-options.ts'
import { settingsHelp } from '../../src/commands/settings-help.ts'
import { allSettings } from '../../src/config/settings.ts'
import { databases } from '../../src/data/databases/index.ts'
import { scripts } from '../../src/data/scripts/index.ts'
import { eraNames } from '../../src/demo/eras.ts'
import { providers } from '../../src/discovery/index.ts'
import { sources } from '../../src/game/sources/index.ts'
import { channelTypes } from '../../src/notify/channels/index.ts'
import { environmentOf } from '../../src/settings/setting.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { fixedFleet } from '../helpers/metrics-fleet.ts'
import { startMetricsService } from '../helpers/metrics-service.ts'
import { scriptedFleet } from '../helpers/scripted-fleet.ts'
import { readPage } from './markdown.ts'

const root = join(import.meta.dirname, '..', '..')
const exists = (path: string) => existsSync(join(root, path))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const foldersIn = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))

/** The files of a guide whose paths contain a placeholder. */
const templatesOf = (page: string): readonly string[] =>
  readPage(page).codes.filter((code) => /^(src|test|exporter)\//.test(code) && code.includes('<'))

/** The paths of a guide with the placeholders filled in. */
const filledIn = (page: string, values: Readonly<Record<string, string>>): readonly string[] =>
  templatesOf(page).map((path) => path.replaceAll(/<(\w+)>/g, (_, name: string) => values[name] ?? `<${name}>`))

const plural = { projects: 'projects', kcomebacks: 'comebacks' } as const

// Only the steps of the guide.
const toy = vi.hoisted(
  (): ServerFamily => ({
    name: 'minecraft_toys',
    type: 'gauge',
    help: 'Toys.',
    labels: ['color'],
    perPoll: true,
    read: (_, add) => add(3, 'red'),
  }),
)
vi.mock('../../exporter/families/index.ts', async (original) => {
  const actual = await original<typeof import('../../exporter/families/index.ts')>()
  return { ...actual, serverFamilies: [...actual.serverFamilies, toy] }
})

describe('the files that a guide names are those of every sibling:', () => {
  it.each(sources.map(({ name }) => name))('source %s', (name) => {
    const files = filledIn('docs/contributing/source.md', { name })
    expect(files.length).toBeGreaterThanOrEqual(2)
    expect(files.filter((file) => !exists(file))).toEqual([])
  })

  it('sources are folders of the one list', () => {
    const unlisted = foldersIn('src/game/sources').filter((folder) => !sources.some(({ name }) => name === folder))
    expect(unlisted).toEqual([])
  })

  it.each(providers.map(({ name }) => name))('discovery provider %s', (name) => {
    const module = name === 'config' ? 'config-file' : name.replaceAll('_', '-')
    const isProxy = read(`src/discovery/providers/${module}.ts`).includes('readProxyFile(')
    const files = filledIn('docs/contributing/provider.md', { name: module, test: isProxy ? 'proxies' : module })
    expect(files).toHaveLength(2)
    expect(files.filter((file) => !exists(file))).toEqual([])
    expect(read('src/discovery/index.ts')).toContain(`'./providers/${module}.ts'`)
  })

  it.each(channelTypes.map(({ type }) => type))('notification channel %s', (name) => {
    const files = filledIn('docs/contributing/channel.md', { name })
    expect(files).toHaveLength(1)
    expect(files.filter((file) => !exists(file))).toEqual([])
    expect(read('src/notify/channels/index.ts')).toContain(`'./${name}.ts'`)
    expect(read('docs/notifications.md')).toContain(`\n| \`${name}\` `)
  })

  it('discovery providers are modules of the one list, whose settings are in the page of settings', () => {
    expect(readdirSync(join(root, 'src/discovery/providers'))).toHaveLength(providers.length)
    const settings = providers.flatMap(({ settings }) => Object.values<{ readonly env: string }>(settings))
    for (const { env } of settings) expect(read('docs/settings.md')).toContain(env)
  })

  it.each(databases.map(({ name }) => name as keyof typeof plural))('database %s', (name) => {
    const files = filledIn('docs/contributing/database.md', { name, routes: plural[name] })
    expect(files.length).toBeGreaterThanOrEqual(3)
    expect(files.filter((file) => !exists(file))).toEqual([])
  })

  it.each(foldersIn('src/data/scripts'))('script %s', (folder) => {
    const files = filledIn('docs/contributing/script.md', { folder })
    expect(files.length).toBeGreaterThanOrEqual(2)
    // The wiki pages have separate tests.
    expect(files.filter((file) => !exists(file))).toEqual([])
    expect(read('src/data/scripts/index.ts')).toContain(`'./${folder}/index.ts'`)
  })

  it('scripts are folders of the one list', () => {
    expect(foldersIn('src/data/scripts').length).toBe(scripts.length)
  })

  it.each(['projects', 'kcomebacks'])('filter of %s', (name) => {
    const { codes } = readPage('docs/contributing/filter.md')
    for (const file of [`src/data/databases/${name}.ts`, `test/data/routes/${name.replace(/^k/, '')}.test.ts`])
      expect(codes).toContain(file)
    expect(read(`src/data/databases/${name}.ts`)).toContain('filters: [')
  })
})

it('a metric in the list of families is served and documented, as described in its guide', async () => {
  const { codes } = readPage('docs/contributing/metric.md')
  expect(codes).toContain('exporter/families/index.ts')
  const script = fixedFleet()
  const fleet = scriptedFleet(script, manualClock())
  const service = await startMetricsService(fleet, {})
  try {
    await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
    expect(await service.text()).toMatch(
      /^# HELP minecraft_toys Toys\.\n# TYPE minecraft_toys gauge\nminecraft_toys\{server="[^"]+",color="red"\} 3$/m,
    )
  } finally {
    await service.close()
  }
  expect(metricsTable()).toMatch(/^\| `minecraft_toys` +\| gauge +\| `server`, `color` +\| Toys +\|$/m)
})

it.each(allSettings)('the setting $env is in --help and in the page of settings, as described in its guide', (setting) => {
  expect(settingsHelp()).toContain(`  ${setting.env} `)
  for (const name of environmentOf(setting)) expect(read('docs/settings.md')).toContain(`\`${name}\``)
  const choices: readonly string[] = setting.kind.choices ?? []
  const lines = [settingsHelp(), read('docs/settings.md')].map((text) =>
    text.split('\n').find((line) => line.includes(`${setting.env} `) || line.includes(`\`${setting.env}\``)),
  )
  if (!choices.includes('true')) for (const choice of choices) for (const line of lines) expect(line).toContain(choice)
})

it.each(eraNames)('the era %s is in the demo server, as described in the guide to game versions', (era) => {
  expect(readPage('docs/contributing/game-version.md').codes).toContain('src/demo/eras.ts')
  expect(demoFlags.find(({ name }) => name === 'era')?.meaning).toContain(era)
})

it('a guide for each thing that the overview lists', () => {
  const { links } = readPage('docs/contributing/README.md')
  for (const page of ['source', 'provider', 'channel', 'metric', 'setting', 'filter', 'database', 'script', 'game-version'])
    expect(links).toContain(`${page}.md`)
})

it('CONTRIBUTING.md lists the system programs that CI installs', () => {
  const [, packages = ''] = /packages=\(([^)]*)\)/.exec(read('.ci/run')) ?? []
  expect(packages).not.toBe('')
  const { codes } = readPage('CONTRIBUTING.md')
  expect(packages.split(' ').filter((name) => !codes.includes(name))).toEqual([])
})
