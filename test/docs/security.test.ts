import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { allSettings } from '../../src/config/settings.ts'

const policy = readFileSync(join(import.meta.dirname, '..', '..', 'SECURITY.md'), 'utf8')
const [, opened = ''] = policy.split(/What each setting opens|Besides the settings:/)
const named = new Set([...opened.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = '']) => name))

it('the security policy names settings that exist', () => {
  const known = new Set(allSettings.map(({ env }) => env))
  expect([...named].filter((name) => !known.has(name))).toEqual([])
  expect(named.size).toBeGreaterThan(40)
})

/** Settings that open nothing; a new setting belongs here or in the policy. */
const opensNothing = [
  ...['MC_NAME', 'MC_GROUP', 'MC_HOSTNAME', 'MC_PROXY_PROTOCOL', 'MC_ASLEEP_MOTD', 'PORT', 'POLL_INTERVAL', 'POLL_TIMEOUT'],
  ...['STALE_AFTER', 'DISCOVERY_HTTP_SD_INTERVAL', 'DISCOVERY_KUBERNETES_INTERVAL', 'DATA_REFRESH', 'DATA_ONLY', 'RUN_PAUSE'],
  ...['REDDIT_CLIENT_ID', 'SPOTIFY_CLIENT_ID', 'COMPAT', 'HISTORY_DAYS', 'PAGE_TITLE', 'PAGE_LANGUAGE', 'PAGE_ACCENT'],
  ...['PAGE_FOOTER', 'PAGE_LINKS', 'STATE_HEARTBEAT', 'STATE_FAIL_OPEN', 'OTEL_EXPORTER_OTLP_PROTOCOL'],
  ...['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'OTEL_METRIC_EXPORT_INTERVAL', 'OTEL_SDK_DISABLED'],
]

it('the security policy says what each setting opens, except for those that open nothing', () => {
  expect(allSettings.map(({ env }) => env).filter((env) => !named.has(env))).toEqual(opensNothing)
})

it('reports are private, without an address', () => {
  expect(policy).toContain('Report a vulnerability')
  expect(policy).not.toMatch(/[\w.]+@[\w.]+/)
})
