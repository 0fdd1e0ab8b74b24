import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { commands } from '../../src/commands/definitions/index.ts'
import { mcMonitorCommands } from '../../src/commands/mc-monitor/commands.ts'
import { serverFlags, settingFlags } from '../../src/commands/setting-flags.ts'
import { allSettings } from '../../src/config/settings.ts'
import { environmentOf } from '../../src/settings/setting.ts'
import { type MarkdownPage, pagePaths, readPage } from './markdown.ts'

const guides = pagePaths.filter((path) => path !== 'CHANGELOG.md')
const settings = new Set([...allSettings.flatMap(environmentOf), 'TICKWARDEN_CONFIG'])
/** Not settings of Tickwarden, but of the same form: error codes of the API, and variables of Node.js, the tests and mc-monitor. */
const others = new Set([
  'SERVER_UNREACHABLE',
  'INVALID_PARAMETER',
  'PROTECTED_MODE',
  'TOO_MANY_PICTURES',
  'TOO_MANY_REQUESTS',
  'NODE_EXTRA_CA_CERTS',
  'NODE_OPTIONS',
  'REQUIRE_TOOLS',
  'BENCH_NODE_OPTIONS',
  'LONG_TESTS',
  'UPDATE_GOLDEN',
  'MC_SEVER',
  'NO_COLOR',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  ...mcMonitorCommands.flatMap(({ flags }) => flags.flatMap(({ env }) => env ?? [])),
])
const metrics = new Set(readPage('docs/metrics.md').codes)
const routes = readPage('docs/api.md').codes.filter((code) => code.startsWith('/'))

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const commonFlags = ['help', ...settingFlags().keys(), ...serverFlags().keys()]
const flagsOf = new Map(commands.map(({ name, flags }) => [name, new Set([...commonFlags, ...flags.map(({ name }) => name)])]))
/** Its commands, in sentences and in blocks. */
const commandsOf = ({ codes, blocks }: MarkdownPage): readonly string[] => [
  ...codes,
  ...blocks.flatMap(({ language, text }) => (language === 'sh' ? text.replaceAll('\\\n', ' ').split('\n') : [])),
]
/** Flags that the command of Tickwarden in the line does not have. */
function unknownFlags(line: string): readonly string[] {
  const [, name = '', rest = ''] = /(?:^|\s)(?:tickwarden|npm start --|main\.js) ([a-z]+)(?: (.*))?$/.exec(line) ?? []
  const flags = flagsOf.get(name)
  const given = Array.from(rest.matchAll(/(?:^|\s)--([a-z-]+)/g), ([, flag = '']) => flag)
  return flags === undefined ? [] : given.filter((flag) => !flags.has(flag))
}

const isRoute = (path: string): boolean => {
  const pattern = path.replace(/\?.*/, '').replace(/^\/api\/v1\/servers\/(\{name\}|\w+)\//, '/api/v1/')
  return routes.includes(pattern)
}

it.each(guides)('%s names settings that exist', (path) => {
  const named = readPage(path).codes.flatMap((code) => /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?==|$)/.exec(code) ?? [])
  expect(named.filter((name) => !settings.has(name) && !others.has(name))).toEqual([])
})

it.each(guides)('%s names metrics that exist', (path) => {
  const named = readPage(path).codes.flatMap((code) => /^(?:minecraft|tickwarden)_[a-z0-9_]+/.exec(code) ?? [])
  const own = (name: string) => name.endsWith('_') || metrics.has(name)
  expect(named.filter((name) => !own(name))).toEqual([])
})

it.each(guides)('%s names routes that exist', (path) => {
  const named = readPage(path).codes.filter((code) => /^\/(api\/v1|v1)\/[\w/.{}-]+(\?.*)?$/.test(code) && !/<|\.\.\./.test(code))
  expect(named.filter((route) => !isRoute(route))).toEqual([])
})

it.each(guides)('%s names commands and flags that exist', (path) => {
  const lines = commandsOf(readPage(path))
  expect(lines.flatMap(unknownFlags)).toEqual([])
  const named = lines.flatMap((line) => Array.from(line.matchAll(/\bnpm run (?:--silent )?([a-z:-]+)/g), ([, name = '']) => name))
  expect(named.filter((name) => !(name in scripts))).toEqual([])
})

it('finds names that do not exist', () => {
  expect(unknownFlags('npx tickwarden demo --era 1.12.2 --eras=2')).toEqual(['eras'])
  expect(settings.has('MC_SERVERS')).toBe(false)
  expect(metrics.has('minecraft_upp')).toBe(false)
  expect(isRoute('/api/v1/servers/{name}/banner.png?width=600')).toBe(true)
  expect(isRoute('/api/v1/nothing')).toBe(false)
})
