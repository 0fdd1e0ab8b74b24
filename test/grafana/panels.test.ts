import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasTool } from '../helpers/require-tool.ts'
import { writeBlocks } from './generated-fleet.ts'
import { ruleFile, startPrometheus } from './prometheus-server.ts'

const folder = join(import.meta.dirname, '..', '..', 'grafana', 'dashboards')
const isLong = process.env.LONG_TESTS === '1'
const minutes = 30
const step = 15
/** Width of a panel in points, as Grafana asks for them. */
const points = 240
const maxBytes = 1_000_000

interface Panel {
  readonly title: string
  readonly type: string
  readonly targets?: readonly { readonly expr: string; readonly instant?: boolean }[]
  readonly panels?: readonly Panel[]
}

const panelsOf = (file: string): readonly Panel[] =>
  (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { panels: readonly Panel[] }).panels
    .flatMap((panel) => [panel, ...(panel.panels ?? [])])
    .filter(({ targets = [] }) => targets.length > 0)

/** About what the generated fleet does not have: alerts, replicas, discovery, failed requests. */
const withoutData = new Set([
  'Alerts firing',
  'Firing alerts',
  'Replicas',
  'Servers unknown to a replica',
  'Notifications',
  'Server lists failing',
  'Event clients',
  'Failed requests',
  'Requests',
  'Request time, p99',
  'Shared state and server lists',
  'Servers polled',
  'Notifications',
  'Data snapshots',
  'Update scripts',
  // The generated counters have not grown in a histogram of waiting times.
  'Delay of polls, p99',
  'Name lookups, p99',
])

const fleets = [
  { servers: 1, hasReplicas: false },
  { servers: 30, hasReplicas: true },
  ...(isLong ? [{ servers: 1_000, hasReplicas: false } as const, { servers: 1_000, hasReplicas: true } as const] : []),
]

describe.skipIf(!hasTool('prometheus')).each(fleets)(
  '$servers servers, replicas: $hasReplicas',
  { timeout: 900_000 },
  (fleet) => {
    it('every panel has data, in few bytes, and the server dashboard one line after a failover', async () => {
      const path = mkdtempSync(join(tmpdir(), 'tickwarden-panels-'))
      onTestFinished(() => rmSync(path, { recursive: true, force: true }))
      // Not now: Prometheus may take longer to start than rates reach back.
      const end = await writeBlocks(path, { ...fleet, minutes, step })
      const prometheus = await startPrometheus(
        { global: { evaluation_interval: '15s' }, rule_files: [ruleFile] },
        join(path, 'data'),
      )
      onTestFinished(() => prometheus.stop())

      for (const file of readdirSync(folder)) {
        const server = file === 'server.json' ? 'server-0000' : '.*'
        for (const { title, targets = [] } of panelsOf(file)) {
          let bytes = 0
          let results = 0
          for (const { expr, instant } of targets) {
            const query = expr
              .replaceAll('$__rate_interval', '1m')
              .replaceAll('$__range', `${minutes}m`)
              .replaceAll('$__interval', '15s')
              .replaceAll(/\$\{server:regex\}/g, server)
              .replaceAll(/\$\{group:regex\}/g, '.*')
              .replaceAll('$top', '10')
            const parameters = new URLSearchParams({ query })
            if (instant) parameters.set('time', String(end))
            else
              for (const [name, value] of Object.entries({ start: end - minutes * 60, end, step: (minutes * 60) / points }))
                parameters.set(name, String(value))
            const { result } = (await prometheus.get(`/api/v1/${instant ? 'query' : 'query_range'}?${parameters}`)) as {
              result: readonly { readonly metric: Readonly<Record<string, string>> }[]
            }
            bytes += JSON.stringify(result).length
            results += result.length
            if (file === 'server.json')
              for (const { metric } of result) expect(metric, `${title}: ${expr}`).not.toHaveProperty('instance')
          }
          if (!withoutData.has(title)) expect(results, `${file}: ${title}`).toBeGreaterThan(0)
          expect(bytes, `${file}: ${title}`).toBeLessThan(maxBytes)
        }
      }
      const { groups } = (await prometheus.get('/api/v1/rules')) as {
        groups: readonly {
          readonly rules: readonly { readonly name: string; readonly query: string; readonly health: string }[]
        }[]
      }
      const rules = groups.flatMap((group) => group.rules)
      for (const { name, query } of isLong ? rules : []) {
        const times: number[] = []
        for (let run = 0; run < 5; run++) {
          const started = performance.now()
          await prometheus.query(query)
          times.push(performance.now() - started)
        }
        console.log(`${fleet.servers} servers, ${name}: ${times.sort((a, b) => a - b)[2]?.toFixed(1)} ms`)
      }
      expect(rules.filter(({ health }) => health === 'err')).toEqual([])
    })
  },
)
