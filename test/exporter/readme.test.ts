import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { data as dataFamilies } from '../../exporter/families/data.ts'
import { serverFamilies } from '../../exporter/families/index.ts'
import { live as liveFamilies } from '../../exporter/families/live.ts'
import { mcMonitor } from '../../exporter/families/mc-monitor.ts'
import { probed } from '../../exporter/families/probed.ts'
import { replica as replicaFamilies } from '../../exporter/families/replica.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { fixedFleet } from '../helpers/metrics-fleet.ts'
import { type MetricsService, startMetricsService } from '../helpers/metrics-service.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { addressOf, scriptedFleet } from '../helpers/scripted-fleet.ts'

const readme = readFileSync(new URL('../../exporter/README.md', import.meta.url), 'utf8')

interface Row {
  readonly name: string
  readonly type: string
  readonly labels: string
}

const documented: readonly Row[] = [...readme.matchAll(/^\| `([a-z0-9_]+)` +\| (gauge|counter|histogram) +\| (.*?) +\|/gm)].map(
  ([, name = '', type = '', labels = '']) => ({ name, type, labels: labels.replaceAll(/[` ]/g, '') }),
)

let service: MetricsService | undefined
afterEach(async () => service?.close())

it('lists every metric with its type and labels, and no other', () => {
  const server = serverFamilies.map(({ name, type, labels }) => ({ name, type, labels: ['server', ...labels].join(',') }))
  const others = [
    ...probed,
    ...dataFamilies,
    ...liveFamilies,
    ...replicaFamilies,
    ...mcMonitor({ settingsOf: () => undefined }).families,
  ].map(({ name, type, labels }) => ({
    name,
    type,
    labels: labels.join(','),
  }))
  const own = [
    { name: 'tickwarden_build_info', type: 'gauge', labels: 'version,revision,node' },
    { name: 'tickwarden_poll_interval_seconds', type: 'gauge', labels: '' },
    { name: 'http_request_duration_seconds', type: 'histogram', labels: 'method,route,status_class' },
    { name: 'tickwarden_name_lookup_seconds', type: 'histogram', labels: '' },
  ]
  const byName = (a: Row, b: Row) => a.name.localeCompare(b.name)
  expect(documented.toSorted(byName)).toEqual([...server, ...others, ...own].toSorted(byName))
})

it('knows every metric that /metrics really has', async () => {
  const data = {
    snapshots: () => [{ database: 'projects', up: true, entries: 1, rejected: 0, lastUpdate: 1 }],
    scripts: () => [
      { script: 'projects', running: false, runs: { done: 1 }, lastSuccess: 1, duration: 1, authorisationExpires: 1 },
    ],
  }
  const live = { events: () => ({ clients: 1, dropped: 0 }), historyBytes: () => 1 }
  const replica = { metrics: () => ({ servers: 1, members: 1, isStateUp: true }), isPolledHere: () => true }
  const clock = manualClock()
  const script = fixedFleet()
  const servers = Object.keys(script).map((name, index) => ({
    name,
    sources: { status: { address: addressOf(index) } },
    ...(index === 0 && { demo: true as const }),
  }))
  const fleet = scriptedFleet(script, clock, servers)
  service = await startMetricsService(fleet, { env: { COMPAT: 'mc-monitor' }, data, live, replica })
  await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
  await service.text()
  const found = [...(await service.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    .map(([, name, type]) => `${name} ${type}`)
    .filter((family) => !/^(process|nodejs)_/.test(family))
  const ofProbes = new Set(probed.map(({ name }) => name))
  const expected = documented.filter(({ name }) => !ofProbes.has(name)).map(({ name, type }) => `${name} ${type}`)
  expect(found.toSorted()).toEqual(expected.toSorted())
})

it.skipIf(!hasTool('promtool'))('has Prometheus settings that Prometheus takes', () => {
  const snippets = [...readme.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text)
  expect(snippets.length).toBe(3)
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-promtool-'))
  try {
    for (const snippet of snippets) {
      const file = join(folder, 'prometheus.yml')
      writeFileSync(file, snippet)
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', file], { encoding: 'utf8' })
      expect(status, stdout + stderr).toBe(0)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
