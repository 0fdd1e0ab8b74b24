import { readFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { partFamilies, serverFamilies } from '../../exporter/families/index.ts'
import { mcMonitor } from '../../exporter/families/mc-monitor.ts'
import { probed } from '../../exporter/families/probed.ts'
import { histogramFamilies } from '../../exporter/histogram-text.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { fixedFleet } from '../helpers/metrics-fleet.ts'
import { type MetricsService, startMetricsService } from '../helpers/metrics-service.ts'
import { addressOf, scriptedFleet } from '../helpers/scripted-fleet.ts'

const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')

interface Row {
  readonly name: string
  readonly type: string
  readonly labels: string
}

const documented: readonly Row[] = [...page.matchAll(/^\| `([a-z0-9_]+)` +\| (gauge|counter|histogram) +\| (.*?) +\|/gm)].map(
  ([, name = '', type = '', labels = '']) => ({ name, type, labels: labels.replaceAll(/[` ]/g, '') }),
)

let service: MetricsService | undefined
afterEach(async () => service?.close())

it('lists every metric with its type and labels, and no other', () => {
  const server = serverFamilies.map(({ name, type, labels }) => ({ name, type, labels: ['server', ...labels].join(',') }))
  const others = [...probed, ...partFamilies, ...mcMonitor({ settingsOf: () => undefined }).families, ...histogramFamilies].map(
    ({ name, type, labels }) => ({
      name,
      type,
      labels: labels.join(','),
    }),
  )
  const byName = (a: Row, b: Row) => a.name.localeCompare(b.name)
  expect(documented.toSorted(byName)).toEqual([...server, ...others].toSorted(byName))
})

it('lists every metric that /metrics really has', async () => {
  const data = {
    snapshots: () => [{ database: 'projects', up: true, entries: 1, rejected: 0, lastUpdate: 1 }],
    scripts: () => [
      { script: 'projects', running: false, runs: { done: 1 }, lastSuccess: 1, duration: 1, authorisationExpires: 1 },
    ],
  }
  const live = { events: () => ({ clients: 1, dropped: 0 }), historyBytes: () => 1 }
  const discovery = {
    version: 1,
    status: () => [{ provider: 'config', name: 'tickwarden.yaml', state: 'ok' as const, servers: 1, refused: [], readAt: 1 }],
  }
  const replica = {
    metrics: () => ({ servers: 1, unknown: 0, members: 2, fallback: 0, isStateUp: true }),
    isPolledHere: () => true,
  }
  const channels = () => [{ channel: 'ops', sent: 1, failed: 0, dropped: 0, waiting: 0 }]
  const clock = manualClock()
  const script = fixedFleet()
  const servers = Object.keys(script).map((name, index) => ({
    name,
    sources: { status: { address: addressOf(index) } },
    ...(index === 0 && { demo: true as const }),
  }))
  const fleet = scriptedFleet(script, clock, servers)
  service = await startMetricsService(fleet, { env: { COMPAT: 'mc-monitor' }, data, live, channels, discovery, replica })
  await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
  await service.text()
  const found = [...(await service.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    .map(([, name, type]) => `${name} ${type}`)
    .filter((family) => !/^(process|nodejs)_/.test(family))
  const ofProbes = new Set(probed.map(({ name }) => name))
  const expected = documented.filter(({ name }) => !ofProbes.has(name)).map(({ name, type }) => `${name} ${type}`)
  expect(found.toSorted()).toEqual(expected.toSorted())
})
