import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { hasTool } from '../helpers/require-tool.ts'
import { ensure } from '../tools/ensure.mjs'

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'grafana', 'dashboards')

interface Panel {
  readonly panels?: readonly Panel[]
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly datasource?: { readonly uid: string }
  readonly targets?: readonly {
    readonly expr: string
    readonly legendFormat?: string
    readonly instant?: boolean
    readonly range?: boolean
  }[]
  readonly fieldConfig?: {
    readonly defaults: { readonly unit?: string; readonly thresholds?: { readonly steps: readonly unknown[] } }
  }
  readonly gridPos?: { readonly w: number; readonly h: number }
}
interface Dashboard {
  readonly uid: string
  readonly panels: readonly Panel[]
  readonly annotations: { readonly list?: readonly { readonly name: string; readonly expr?: string }[] }
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[]
  }
}

const files = readdirSync(folder)
/** With the panels of collapsed rows after their row. */
function read(file: string): Dashboard {
  const dashboard = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Dashboard
  return { ...dashboard, panels: dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]) }
}

/** Has promtool run unit tests of rules or expressions. @throws Error if one fails */
function testRules(tests: unknown): void {
  const directory = mkdtempSync(join(tmpdir(), 'tickwarden-panels-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'tests.yaml')
  writeFileSync(file, stringify(tests))
  expect(execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8', stdio: 'pipe' })).toContain('SUCCESS')
}

describe('the dashboards', () => {
  beforeAll(() => ensure('grafana'))

  it('and the rules are those that the code generates: npm run dashboards', async () => {
    const { generated } = await import('../../grafana/src/generate.ts')
    const made = generated()
    expect(files.map((file) => `grafana/dashboards/${file}`).sort()).toEqual(
      Object.keys(made)
        .filter((path) => path.startsWith('grafana/dashboards/'))
        .sort(),
    )
    for (const [path, text] of Object.entries(made)) expect(readFileSync(join(root, path), 'utf8'), path).toBe(text)
  })

  it('have stable uids', () => {
    expect(Object.fromEntries(files.map((file) => [file, read(file).uid]))).toEqual({
      'fleet.json': 'tickwarden-fleet',
      'internals.json': 'tickwarden-internals',
      'server.json': 'tickwarden-server',
    })
  })

  it.each(files)('%s: every panel has a unique id', (file) => {
    const ids = read(file).panels.map(({ id }) => id)
    for (const id of ids) expect(Number.isInteger(id) && id > 0).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('keep the ids of panels, which links use', () => {
    const idOf = (file: string, title: string) => read(file).panels.find((panel) => panel.title === title)?.id
    expect(idOf('fleet.json', 'Servers up')).toBe(35_445)
    expect(idOf('server.json', 'Tick time')).toBe(630_097)
  })

  it.each(files)('%s: links encode the values in their URLs', (file) => {
    const urls = [...readFileSync(join(folder, file), 'utf8').matchAll(/"url": "([^"]*)"/g)].map(([, url = '']) => url)
    if (file === 'fleet.json') expect(urls.length).toBeGreaterThan(0)
    for (const url of urls)
      for (const [, variable] of url.matchAll(/\$\{(.*?)\}/g))
        expect(variable).toMatch(/^__url_time_range$|:(percentencode|queryparam)$/)
  })

  it.each(files)('%s: data source and server are variables', (file) => {
    const { templating, panels } = read(file)
    const servers = [
      ['group', 'query'],
      ['server', 'query'],
    ]
    const variables = { 'fleet.json': [...servers, ['top', 'custom']], 'server.json': servers, 'internals.json': [] }
    expect(templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ...variables[file as keyof typeof variables],
    ])
    for (const panel of panels) if (panel.type !== 'row') expect(panel.datasource?.uid, panel.title).toBe('$' + '{datasource}')
  })

  it.each(files)('%s: queries have the selected servers and groups as regular expressions in backticks', (file) => {
    const { panels, annotations, templating } = read(file)
    const ofPanels = panels.flatMap(({ targets = [] }) => targets)
    const ofVariables = templating.list.map(({ definition }) => ({ expr: definition }))
    for (const { expr = '' } of [...ofPanels, ...ofVariables, ...(annotations.list ?? [])])
      expect(expr.replaceAll(/~`\$\{(server|group):regex\}\|?`/g, '')).not.toMatch(/\$\{?(server|group)/)
  })

  it.skipIf(!hasTool('promtool')).each([
    ['fleet.json', 'Servers by attention needed', 1],
    ['server.json', 'State', 0],
  ] as const)('%s: show servers and groups with quotes and special characters in their names', (file, title, query) => {
    const names = ["Bob's", 'the "best"', 'a\\b', 'a', '1.21 (EU) | $5 +x', '[x]{1}^', 'Größe 日本 🎮', 'line\nbreak']
    // The format `regex` of Grafana.
    const escaped = (name: string) => name.replaceAll(/[\\^$*+?.()|[\]{}/]/g, '\\$&')
    const panel = read(file).panels.find((one) => one.title === title)
    const expr = panel?.targets?.[query]?.expr ?? ''
    const promql_expr_test = names.map((name) => ({
      expr: expr.replaceAll(/\$\{(server|group):regex\}/g, () => escaped(name)),
      eval_time: '1m',
      exp_samples: [{ labels: `{server=${JSON.stringify(name)}}`, value: 1 }],
    }))
    const input_series = names.flatMap((name) => [
      { series: `minecraft_up{job="a",instance="i",server=${JSON.stringify(name)}}`, values: '1x4' },
      {
        series: `minecraft_server_info{job="a",instance="i",server=${JSON.stringify(name)},group=${JSON.stringify(name)}}`,
        values: '1x4',
      },
    ])
    testRules({ tests: [{ interval: '1m', input_series, promql_expr_test }] })
  })

  it.each(files)('%s: can be edited, and its links keep data source, servers and time', (file) => {
    const { editable, links } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      editable: boolean
      links: readonly { readonly includeVars: boolean; readonly keepTime: boolean }[]
    }
    expect(editable).toBe(true)
    expect(links.length).toBeGreaterThan(0)
    for (const link of links) expect(link).toMatchObject({ includeVars: true, keepTime: true })
  })

  it.each(files)('%s: no panel shows an unknown value as a number', (file) => {
    for (const panel of read(file).panels) {
      for (const { expr } of panel.targets ?? []) expect(expr, panel.title).not.toMatch(/vector\(|absent\(/)
      if (panel.type !== 'stat' && panel.type !== 'table') continue
      // Of a range, Grafana shows the last value that is known.
      for (const { instant, range } of panel.targets ?? []) expect([instant, range], panel.title).toEqual([true, false])
      const { defaults, overrides } = panel.fieldConfig as unknown as {
        defaults: { noValue?: string; mappings?: readonly unknown[] }
        overrides: readonly { properties: readonly { id: string; value: unknown }[] }[]
      }
      expect(defaults.noValue, panel.title).toBeTruthy()
      const mapped = [
        ...(defaults.mappings ?? []),
        ...overrides.flatMap(({ properties }) => properties.filter(({ id }) => id === 'mappings').map(({ value }) => value)),
      ]
      if (panel.type === 'stat') expect(JSON.stringify(mapped), panel.title).toContain('"null+nan"')
    }
  })

  it.each(files)('%s: every panel has a description, a unit, thresholds, legends, and no plugin', (file) => {
    for (const panel of read(file).panels.filter(({ type }) => type !== 'row')) {
      expect(['stat', 'timeseries', 'state-timeline', 'table']).toContain(panel.type)
      expect(panel.description?.length, panel.title).toBeGreaterThan(15)
      expect(panel.fieldConfig?.defaults.unit, panel.title).toBeTruthy()
      expect(panel.fieldConfig?.defaults.thresholds?.steps.length, panel.title).toBeGreaterThan(0)
      expect(panel.gridPos?.w, panel.title).toBeGreaterThan(0)
      expect(panel.targets?.length, panel.title).toBeGreaterThan(0)
      for (const { legendFormat } of panel.targets ?? []) expect(legendFormat, panel.title).toBeTruthy()
    }
  })

  it.skipIf(!hasTool('promtool'))(
    'count every server once: also targets of /probe without a name, and one that is unknown',
    () => {
      const values = {
        'up{job="a",instance="i"}': '1x24',
        'minecraft_up{job="a",instance="i",server="one"}': '1x24',
        'minecraft_up{job="a",instance="i",server="two"}': '0x24',
        'minecraft_up{job="a",instance="i",server="maintained"}': '1x8 0x16',
        'minecraft_maintenance{job="a",instance="i",server="maintained"}': '0x7 1x16',
        'minecraft_up{job="a",instance="i",server="hung"}': '1x24',
        'minecraft_main_thread_responsive{job="a",instance="i",server="hung"}': '0x24',
        'minecraft_up{job="a",instance="i",server="hung in maintenance"}': '1x24',
        'minecraft_main_thread_responsive{job="a",instance="i",server="hung in maintenance"}': '0x24',
        'minecraft_source_up{job="a",instance="i",server="hung in maintenance",source="rcon"}': '0x24',
        'minecraft_maintenance{job="a",instance="i",server="hung in maintenance"}': '1x24',
        'minecraft_up{job="a",instance="i",server="removed"}': '1x3 stale',
        'tickwarden_build_info{job="a",instance="i"}': '1x24',
        // Its Tickwarden cannot be scraped any more; a server was removed well before.
        'up{job="b",instance="j"}': '1x12 0x12',
        'tickwarden_build_info{job="b",instance="j"}': '1x12 stale',
        'minecraft_up{job="b",instance="j",server="lost"}': '1x12 stale',
        'minecraft_up{job="b",instance="j",server="gone"}': '1x3 stale',
        // Their pod was replaced by one that never becomes ready.
        'up{job="c",instance="old"}': '1x12 stale',
        'tickwarden_build_info{job="c",instance="old"}': '1x12 stale',
        'minecraft_up{job="c",instance="old",server="replaced"}': '1x12 stale',
        'minecraft_up{job="c",instance="old",server="replaced too"}': '1x12 stale',
        'up{job="c",instance="new"}': '_x12 0x12',
        // A Tickwarden that is gone for good, from a job of which another exporter is up.
        'up{job="d",instance="old"}': '1x12 stale',
        'tickwarden_build_info{job="d",instance="old"}': '1x12 stale',
        'minecraft_up{job="d",instance="old",server="given up"}': '1x12 stale',
        'up{job="d",instance="node"}': '1x24',
        // Tickwarden cannot ask this one, and polls the other one no more.
        'minecraft_up{job="a",instance="i",server="not asked"}': '1x3 stale',
        'minecraft_source_up{job="a",instance="i",server="not asked",source="status"}': '1x3 0x20',
        'minecraft_up{job="a",instance="i",server="stale"}': '1x3 stale',
        'minecraft_source_up{job="a",instance="i",server="stale",source="status"}': '1x24',
        'minecraft_source_up{job="a",instance="i",server="files",source="directory"}': '1x24',
        // Two clusters. One replica of the first one does not know what another one reports.
        'tickwarden_replica_unknown_servers{job="e",instance="1"}': '3x24',
        'tickwarden_replica_unknown_servers{job="e",instance="2"}': '7x24',
        'tickwarden_replica_unknown_servers{job="f",instance="3"}': '2x24',
        // A failover.
        'up{job="a",instance="k"}': '1x3 0x20',
        'minecraft_up{job="a",instance="k",server="one"}': '1x3 stale',
        'up{job="others",instance="mc.example.org"}': '1x24',
        'minecraft_up{job="others",instance="mc.example.org"}': '1x24',
        'up{job="others",instance="down.example.org"}': '1x24',
        'minecraft_up{job="others",instance="down.example.org"}': '0x24',
        'up{job="others",instance="failing.example.org"}': '1x3 0x20',
        'minecraft_up{job="others",instance="failing.example.org"}': '1x3 stale',
      }
      const each = (values: Readonly<Record<string, number>>) =>
        Object.entries(values).map(([server, value]) => ({ labels: `{server="${server}"}`, value }))
      const expected: readonly (readonly [title: string, query: number, samples: readonly object[]])[] = [
        ['Servers up', 0, [{ labels: '{}', value: 4 }]],
        ['Servers down', 0, [{ labels: '{}', value: 2 }]],
        ['Servers unknown', 0, [{ labels: '{}', value: 6 }]],
        ['Servers unknown', 1, [{ labels: '{}', value: 5 }]],
        // Attention, state and availability.
        ...[
          { one: 0, two: 100, hung: 100, 'hung in maintenance': 0, maintained: 0, 'mc.example.org': 0, 'down.example.org': 100 },
          { one: 1, two: 0, hung: 6, 'hung in maintenance': 6, maintained: 9, 'mc.example.org': 1, 'down.example.org': 0 },
          { one: 1, two: 0, hung: 1, maintained: 1, 'mc.example.org': 1, 'down.example.org': 0 },
        ].map((values, query) => ['Servers by attention needed', query, each(values)] as const),
      ]
      const panels = read('fleet.json').panels
      const promql_expr_test = expected.map(([title, query, exp_samples]) => {
        const expr = panels.find((panel) => panel.title === title)?.targets?.[query]?.expr ?? ''
        const [range, interval] = ['30m', '1m']
        const filled = expr
          .replaceAll('$__range', range)
          .replaceAll('$__interval', interval)
          .replaceAll(/\$\{(server|group):regex\}/g, '.*')
        return { expr: filled, eval_time: '16m', exp_samples }
      })
      const input_series = Object.entries(values).map(([series, values]) => ({ series, values }))
      testRules({ tests: [{ interval: '1m', input_series, promql_expr_test }] })
    },
  )

  it.skipIf(!hasTool('promtool'))(
    'mark a version change whose server was stopped for minutes, and no restart of the same version',
    () => {
      const expr = read('server.json')
        .annotations.list?.find(({ name }) => name === 'Version change')
        ?.expr?.replaceAll('$' + '{server:regex}', '.*')
      const info = (version: string, protocol: string) =>
        `minecraft_version_info{job="a",instance="i",server="one",version="${version}",protocol="${protocol}"}`
      const at = (minute: number, ...versions: readonly string[]) => ({
        expr,
        eval_time: `${minute}m30s`,
        exp_samples: versions.map((version) => ({ labels: `{server="one",version="${version}"}`, value: 1 })),
      })
      // In steps of 30 s: up for 5 minutes, down for 3, the same version for 5, down for 3, a new version for 5, then at once the old one.
      const input_series = [
        { series: info('1.21.4', '769'), values: `1x9 stale _x5 1x9 stale _x15 1x9` },
        { series: info('1.21.5', '770'), values: `_x32 1x9 stale` },
      ]
      const promql_expr_test = [at(1), at(6), at(8), at(10), at(16, '1.21.5'), at(18), at(21, '1.21.4'), at(23)]
      testRules({ tests: [{ interval: '30s', input_series, promql_expr_test }] })
    },
  )

  it.skipIf(!hasTool('promtool'))(
    'server.json: show no data of probed addresses without a name if there is no server to select',
    () => {
      const { panels } = read('server.json')
      const promql_expr_test = panels
        .flatMap(({ targets = [] }) => targets)
        .map(({ expr }) => ({
          expr: expr.replaceAll('$' + '{server:regex}', '').replaceAll('$__rate_interval', '1m'),
          eval_time: '1m',
          exp_samples: [],
        }))
      const names = panels.flatMap(({ targets = [] }) => targets).flatMap(({ expr }) => expr.match(/\bminecraft_\w+/g) ?? [])
      const input_series = [...new Set(names)].flatMap((name) =>
        ['one', 'two'].map((instance) => ({ series: `${name}{job="a",instance="${instance}"}`, values: '1+1x2' })),
      )
      testRules({ tests: [{ interval: '30s', input_series, promql_expr_test }] })
    },
  )

  it.skipIf(!hasTool('promtool'))('list the firing alerts of the selected groups, of Tickwarden and of probed addresses', () => {
    const panels = read('fleet.json').panels
    const exprOf = (title: string) =>
      panels
        .find((panel) => panel.title === title)
        ?.targets?.[0]?.expr.replaceAll('$' + '{server:regex}', '.*')
        .replaceAll('$' + '{group:regex}', 'mine')
    const alert = (name: string, labels: string) => `ALERTS{alertname="${name}",alertstate="firing",job="a",${labels}}`
    const shown = [
      alert('ServerDown', 'server="one"'),
      alert('SharedStateUnavailable', 'instance="i"'),
      alert('ServerDown', 'target="mc.example.org"'),
    ]
    const input_series = [
      ...shown,
      alert('ServerDown', 'server="two"'),
      alert('NotOfTickwarden', 'instance="i"'),
      'minecraft_server_info{job="a",instance="i",server="one",group="mine"}',
      'minecraft_server_info{job="a",instance="i",server="two",group="other"}',
    ].map((series) => ({ series, values: '1x2' }))
    const promql_expr_test = [
      { expr: exprOf('Firing alerts'), eval_time: '1m', exp_samples: shown.map((labels) => ({ labels, value: 1 })) },
      { expr: exprOf('Alerts firing'), eval_time: '1m', exp_samples: [{ labels: '{}', value: shown.length }] },
    ]
    testRules({ tests: [{ interval: '1m', input_series, promql_expr_test }] })
  })

  it.skipIf(!hasTool('promtool'))('count entries and failing lists once, however many replicas there are', () => {
    const panels = read('internals.json').panels
    const test = (title: string, legend: string, labels: string, value: number) => ({
      expr: panels.find((panel) => panel.title === title)?.targets?.find(({ legendFormat }) => legendFormat === legend)?.expr,
      eval_time: '1m',
      exp_samples: [{ labels, value }],
    })
    const input_series = ['1', '2'].flatMap((instance) => {
      const target = `job="a",instance="${instance}"`
      return [
        { series: `tickwarden_snapshot_entries{${target},database="projects"}`, values: '7x2' },
        { series: `tickwarden_snapshot_rejected_entries{${target},database="projects"}`, values: '3x2' },
        { series: `tickwarden_discovery_up{${target},provider="http_sd"}`, values: '0x2' },
        { series: `tickwarden_discovery_up{${target},provider="config"}`, values: '1x2' },
      ]
    })
    const promql_expr_test = [
      test('Data snapshots', 'Entries', '{database="projects"}', 7),
      test('Data snapshots', 'Rejected', '{database="projects"}', 3),
      test('Server lists failing', 'failing', '{}', 1),
    ]
    testRules({ tests: [{ interval: '1m', input_series, promql_expr_test }] })
  })
})
