import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { alerts as described } from '../../grafana/src/alerts.ts'
import { burnRateAlerts } from '../../grafana/src/availability.ts'
import { isDown } from '../../grafana/src/promql.ts'
import { available } from '../../grafana/src/recording-rules.ts'
import { hasTool } from '../helpers/require-tool.ts'

const root = join(import.meta.dirname, '..', '..')
const rules = join(root, 'grafana', 'alerts', 'tickwarden.rules.yaml')
const promtool = (...args: readonly string[]) => execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' })

/** The output of promtool for unit tests in a temporary folder. @param files further ones that the tests name */
function testRules(tests: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-rules-'))
  try {
    for (const [name, text] of Object.entries({ ...files, 'tests.yaml': tests })) writeFileSync(join(folder, name), text)
    return promtool('test', 'rules', join(folder, 'tests.yaml'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('the alert rules', () => {
  const { groups } = parse(readFileSync(rules, 'utf8')) as {
    groups: { rules: { alert?: string; annotations?: Record<string, string> }[] }[]
  }
  const all = groups.flatMap((group) => group.rules)
  const alerts = all.filter(({ alert }) => alert !== undefined)

  it('each have a summary, a description, an action, a section in the documentation and a dashboard', () => {
    expect(alerts.map(({ alert }) => alert)).toEqual(described.map(({ name }) => name))
    const page = readFileSync(join(root, 'docs', 'alerts.md'), 'utf8').toLowerCase()
    // The labels and values of a firing alert are named in it.
    expect(page).not.toContain('{{')
    for (const { alert, annotations = {} } of alerts) {
      expect(Object.keys(annotations)).toEqual(['summary', 'description', 'action', 'runbook_url', 'dashboard_url'])
      const [file, section] = annotations.runbook_url?.split('#') ?? []
      expect(file).toBe('docs/alerts.md')
      expect(page, alert).toContain(`\n## ${section}\n`)
    }
  })

  it("are the same for Grafana, except for the place of the query's value", () => {
    const { groups } = parse(readFileSync(join(root, 'grafana', 'alerting', 'rules.yaml'), 'utf8')) as {
      groups: {
        rules: { uid: string; title: string; data: { model: { expr?: string } }[]; annotations: Record<string, string> }[]
      }[]
    }
    const rules = groups.flatMap((group) => group.rules)
    expect(rules.map(({ title, data }) => [title, data[0]?.model.expr])).toEqual(described.map(({ name, expr }) => [name, expr]))
    expect(new Set(rules.map(({ uid }) => uid)).size).toBe(rules.length)
    for (const { uid, annotations } of rules) {
      expect(uid.length).toBeLessThanOrEqual(40)
      expect(JSON.stringify(annotations)).not.toMatch(/\$value\b/)
    }
  })

  it.skipIf(!hasTool('promtool'))('are rules that promtool accepts', () => {
    expect(promtool('check', 'rules', rules)).toContain(`SUCCESS: ${all.length} rules found`)
  })

  it.skipIf(!hasTool('amtool'))(
    'come with an Alertmanager configuration that amtool accepts, which names existing alerts only',
    () => {
      const file = join(root, 'grafana', 'alertmanager', 'alertmanager.yaml')
      expect(execFileSync('amtool', ['check-config', file], { encoding: 'utf8', stdio: 'pipe' })).toContain('SUCCESS')
      const { inhibit_rules } = parse(readFileSync(file, 'utf8')) as {
        inhibit_rules: { source_matchers: string[]; target_matchers: string[] }[]
      }
      const named = inhibit_rules
        .flatMap(({ source_matchers, target_matchers }) => [...source_matchers, ...target_matchers])
        .flatMap((matcher) => [...matcher.matchAll(/[A-Z]\w+/g)].map(([name]) => name))
      expect(described.map(({ name }) => name)).toEqual(expect.arrayContaining([...new Set(named)]))
    },
  )

  it.skipIf(!hasTool('promtool'))('count as down what the alert ServerDown does', () => {
    const series = (name: string, server: string, value: number) => ({
      series: `${name}{server="${server}"}`,
      values: String(value),
    })
    const up = (...values: readonly [server: string, value: number][]) =>
      values.map(([server, value]) => series('minecraft_up', server, value))
    const asleep = series('minecraft_asleep', 'asleep', 1)
    const upgrading = series('minecraft_world_upgrade_ratio', 'upgrading', 0)
    const maintained = series('minecraft_maintenance', 'maintained', 1)
    const cases = [
      [up(['down', 0], ['up', 1], ['asleep', 0], ['upgrading', 0], ['maintained', 0]), 1],
      [up(['asleep', 0], ['upgrading', 0], ['maintained', 0]), 0],
      [up(['up', 1]), 0],
      [[], undefined],
    ] as const
    const tests = cases.map(([servers, expected]) => ({
      interval: '1m',
      input_series: [...servers, asleep, upgrading, maintained],
      promql_expr_test: [
        {
          expr: `sum(${isDown('', 'server')})`,
          eval_time: '0s',
          exp_samples: expected === undefined ? [] : [{ labels: '{}', value: expected }],
        },
      ],
    }))
    expect(testRules(stringify({ tests }))).toContain('SUCCESS')
  })

  it.skipIf(!hasTool('promtool'))('pass the unit tests of rules.promtool.yaml', () => {
    expect(promtool('test', 'rules', join(import.meta.dirname, 'rules.promtool.yaml'))).toContain('SUCCESS')
  })

  it.skipIf(!hasTool('promtool'))('about scripts pass the unit tests of scripts.promtool.yaml', () => {
    const tests = readFileSync(join(import.meta.dirname, 'scripts.promtool.yaml'), 'utf8')
    // Without those that it does not name: promtool evaluates all rules at every step of several days.
    const isNamed = ({ alert }: { readonly alert?: string }) => alert !== undefined && new RegExp(`\\b${alert}\\b`).test(tests)
    const named = groups.map((group) => ({ ...group, rules: group.rules.filter(isNamed) }))
    const ofNamed = tests.replace('../../grafana/alerts/tickwarden.rules.yaml', 'named.yaml')
    expect(testRules(ofNamed, { 'named.yaml': stringify({ groups: named }) })).toContain('SUCCESS')
  })

  it.skipIf(!hasTool('promtool'))('about an availability objective end for a server that is removed or in maintenance', () => {
    expect(burnRateAlerts({ objective: 0.995, alerts: false })).toEqual([])
    const burning = burnRateAlerts({ objective: 0.995, alerts: true })
    const rules = [
      { record: available.name, expr: available.expr },
      ...burning.map(({ name, expr, for: duration }) => ({ alert: name, expr, for: duration })),
    ]
    const up = (server: string) => `minecraft_up{job="a",instance="i",server="${server}"}`
    const input_series = [
      { series: up('watched'), values: '1x29 0x59 1x90' },
      { series: up('removed'), values: '1x29 0x59 stale' },
      { series: up('maintained'), values: '1x29 0x150' },
      { series: up('steady'), values: '1x180' },
      { series: 'minecraft_maintenance{job="a",instance="i",server="maintained"}', values: '0x89 1x90' },
    ]
    const firing = (minute: number, ...servers: readonly string[]) => ({
      expr: 'count by (server) (ALERTS{alertname="AvailabilityBurn6h",alertstate="firing"})',
      eval_time: `${minute}m`,
      exp_samples: servers.map((server) => ({ labels: `{server="${server}"}`, value: 1 })),
    })
    const promql_expr_test = [firing(85, 'maintained', 'removed', 'watched'), firing(100, 'watched')]
    const tests = stringify({ rule_files: ['rules.yaml'], tests: [{ interval: '1m', input_series, promql_expr_test }] })
    const groups = [{ name: 'availability', rules }]
    expect(testRules(tests, { 'rules.yaml': stringify({ groups }) })).toContain('SUCCESS')
  })
})
