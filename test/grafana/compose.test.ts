import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { hasTool } from '../helpers/require-tool.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (...path: string[]): unknown => parse(readFileSync(join(root, ...path), 'utf8'))

interface Compose {
  readonly services: Record<string, { readonly environment?: Record<string, string>; readonly volumes?: readonly string[] }>
}

const { services } = read('compose.yaml') as Compose

/** Mount points in the containers, and the mounted paths of the project. */
const mounts = Object.values(services)
  .flatMap(({ volumes = [] }) => volumes)
  .map((volume) => volume.split(':') as [string, string])
  .filter(([from]) => from.startsWith('./'))
const placeOf = (path: string): string | undefined => {
  const mount = mounts.find(([, to]) => path === to || path.startsWith(`${to}/`))
  return mount && join(root, mount[0], path.slice(mount[1].length))
}

it('mounts existing paths', () => {
  expect(mounts.length).toBeGreaterThan(3)
  for (const [from] of mounts) expect(existsSync(join(root, from)), from).toBe(true)
})

it('lets Grafana find the dashboards and open one of them first', () => {
  const { providers } = read('grafana/provisioning/dashboards/tickwarden.yaml') as {
    providers: readonly { readonly type: string; readonly options: { readonly path: string } }[]
  }
  expect(providers.map(({ type }) => type)).toEqual(['file'])
  const folder = placeOf(providers[0]!.options.path)
  expect(readdirSync(folder!).sort()).toEqual(readdirSync(join(root, 'grafana', 'dashboards')).sort())
  expect(existsSync(placeOf(services.grafana!.environment!.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH!)!)).toBe(true)
})

it('points Grafana and Prometheus to existing services', () => {
  const { datasources } = read('grafana/provisioning/datasources/prometheus.yaml') as { datasources: readonly { url: string }[] }
  const { rule_files, scrape_configs } = read('grafana/prometheus/prometheus.yaml') as {
    rule_files: readonly string[]
    scrape_configs: readonly { static_configs?: readonly { targets: readonly string[] }[] }[]
  }
  const targets = scrape_configs.flatMap(({ static_configs = [] }) => static_configs.flatMap(({ targets }) => targets))
  expect(targets.length).toBeGreaterThan(0)
  for (const host of [
    ...datasources.map(({ url }) => new URL(url).hostname),
    ...targets.map((target) => target.split(':')[0]!),
  ]) {
    expect(Object.keys(services)).toContain(host)
  }
  for (const file of rule_files) expect(existsSync(placeOf(file.slice(0, file.lastIndexOf('/')))!), file).toBe(true)
})

it('lets Prometheus discover Alertmanager by name, so that a disabled profile of alerts is not an error', () => {
  const { alerting } = read('grafana/prometheus/prometheus.yaml') as { alerting: { alertmanagers: readonly unknown[] } }
  expect(alerting.alertmanagers).toEqual([{ dns_sd_configs: [{ names: ['alertmanager'], type: 'A', port: 9093 }] }])
  expect(services).toHaveProperty('alertmanager')
})

it.skipIf(!hasTool('promtool'))('has a configuration of Prometheus that promtool accepts', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'prometheus-')), 'prometheus.yaml')
  const rules = join(root, 'grafana', 'alerts')
  // As compose.yaml mounts them.
  writeFileSync(
    file,
    readFileSync(join(root, 'grafana', 'prometheus', 'prometheus.yaml'), 'utf8').replace('/etc/prometheus/rules', rules),
  )
  expect(execFileSync('promtool', ['check', 'config', file], { encoding: 'utf8' })).toMatch(/SUCCESS: 1 rule files found/)
})
