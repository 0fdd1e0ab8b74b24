import { expect, it } from 'vitest'
import { mcMonitorCommands } from '../../src/commands/mc-monitor/commands.ts'
import { allSettings } from '../../src/config/settings.ts'
import { environmentOf } from '../../src/settings/setting.ts'
import { pagePaths, readPage } from './markdown.ts'

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
  'UPDATE_GOLDEN',
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

it('finds names that do not exist', () => {
  expect(settings.has('MC_SERVERS')).toBe(false)
  expect(metrics.has('minecraft_upp')).toBe(false)
  expect(isRoute('/api/v1/servers/{name}/banner.png?width=600')).toBe(true)
  expect(isRoute('/api/v1/nothing')).toBe(false)
})
