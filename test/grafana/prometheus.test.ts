import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { attention, state, states, tickRateRatio, tickRateRatioOfRunning } from '../../grafana/src/promql.ts'
import { buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { type DemoServer, demoSettings, startDemoServer } from '../../src/demo/demo-server.ts'
import { createFleet, type Fleet } from '../../src/game/fleet.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { freePort } from '../helpers/run-tool.ts'
import { type PrometheusServer, type Sample, startPrometheus, writeQuickRules } from './prometheus-server.ts'

const root = join(import.meta.dirname, '..', '..')
const rules = join(root, 'grafana', 'alerts', 'tickwarden.rules.yaml')

interface Panel {
  readonly title: string
  readonly type: string
  readonly targets?: readonly { readonly expr: string }[]
  readonly panels?: readonly Panel[]
}
interface Dashboard {
  readonly panels: readonly Panel[]
  readonly annotations: { readonly list?: readonly { readonly name: string; readonly expr?: string }[] }
}
const dashboard = (file: string) => JSON.parse(readFileSync(join(root, 'grafana', 'dashboards', file), 'utf8')) as Dashboard
const { groups } = parse(readFileSync(rules, 'utf8')) as { groups: { rules: { alert?: string; expr: string }[] }[] }
const alerts = groups.flatMap((group) => group.rules).flatMap(({ alert, expr }) => (alert === undefined ? [] : [{ alert, expr }]))

/** Replaces the variables as Grafana does, for one server. */
const fill = (expression: string, server: string) =>
  expression
    .replaceAll('$__rate_interval', '30s')
    .replaceAll('$__range', '30s')
    .replaceAll('$__interval', '1s')
    .replaceAll(/\$\{server:regex\}/g, server)
    .replaceAll(/\$\{group:regex\}/g, '.*')
    .replaceAll('$top', '10')

/** Resolves with host:port. */
async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { address, port } = server.address() as AddressInfo
  return `${address}:${port}`
}

const ups = { busy: 1, forge: 1, lagging: 1, frozen: 1, sprinting: 1, paused: 1, down: 0 }
const onPurpose = ['frozen', 'sprinting', 'paused'] as const

/** Panels about data that this fleet does not have: a server's directory and JVM, replicas, discovery, failed requests. */
const withoutData = new Set([
  'Overload warnings',
  'JVM memory',
  'Garbage collection',
  'Replicas',
  'Servers unknown to a replica',
  'Notifications',
  'Server lists failing',
  'Failed requests',
  'Servers polled',
  'Shared state and server lists',
])

describe.skipIf(!hasTool('prometheus'))('a real Prometheus that scrapes a fleet of demo servers', () => {
  const demos: DemoServer[] = []
  let fleet: Fleet
  let app: Awaited<ReturnType<typeof buildApp>>
  let prometheus: PrometheusServer
  /** An exporter of something else, with metrics of the same names. */
  const other = createHttpServer((_, reply) => {
    const name = 'http_request_duration_seconds'
    const labels = 'method="GET",route="/of/another"'
    const now = Math.floor(performance.now())
    reply.setHeader('content-type', 'text/plain; version=0.0.4')
    reply.end(
      `# TYPE ${name} histogram\n${name}_bucket{${labels},le="1"} ${now}\n${name}_bucket{${labels},le="+Inf"} ${now}\n${name}_sum{${labels}} 1\n${name}_count{${labels}} ${now}\n`,
    )
  })

  beforeAll(async () => {
    const start = async (options: Parameters<typeof startDemoServer>[0]) => {
      const demo = await startDemoServer(options)
      demos.push(demo)
      return demo
    }
    const servers = [
      demoSettings(await start({ scenario: 'steady' }), 'busy'),
      demoSettings(await start({ scenario: 'steady', software: 'forge', era: '1.21.11' }), 'forge'),
      demoSettings(await start({ scenario: 'lagging' }), 'lagging'),
      ...(await Promise.all(onPurpose.map(async (scenario) => demoSettings(await start({ scenario }), scenario)))),
      { name: 'down', sources: { status: { address: { edition: 'java' as const, host: '127.0.0.1', port: await freePort() } } } },
    ]
    const dataDir = mkdtempSync(join(tmpdir(), 'tickwarden-data-'))
    const lastUpdate = `${new Date().toISOString().slice(0, 19).replace('T', ' ')} UTC`
    for (const file of ['projects.json', 'kcomebacks.json'])
      writeFileSync(join(dataDir, file), JSON.stringify([{ last_update: lastUpdate }]))
    const lastSuccess = { projects: new Date().toISOString() }
    writeFileSync(join(dataDir, 'runs.json'), JSON.stringify({ runs: [], lastSuccess }))
    const config = loadConfig({ env: { POLL_INTERVAL: '1s', PROBE_ALLOW: '127.0.0.0/8', DATA_DIR: dataDir } })
    fleet = createFleet({ servers, poll: config.poll, clock: systemClock, log: silentLog, createSources })
    app = await buildApp({ config, fleet, logger: pino({ level: 'silent' }) })
    const { host } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    fleet.start()
    prometheus = await startPrometheus({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [writeQuickRules(dataDir)],
      scrape_configs: [
        { job_name: 'tickwarden', static_configs: [{ targets: [host] }] },
        { job_name: 'other', static_configs: [{ targets: [await listen(other)] }] },
        {
          job_name: 'probe',
          scrape_interval: '2s',
          scrape_timeout: '2s',
          metrics_path: '/probe',
          http_sd_configs: [{ url: `http://${host}/sd`, refresh_interval: '1s' }],
          relabel_configs: [
            { source_labels: ['__address__'], target_label: '__param_target' },
            { source_labels: ['__meta_tickwarden_name'], target_label: 'instance' },
            { target_label: '__address__', replacement: host },
          ],
        },
      ],
    })
  })

  afterAll(async () => {
    await prometheus?.stop()
    fleet?.close()
    await app?.close()
    other.close()
    await Promise.all(demos.map((demo) => demo.close()))
  })

  const until = (expression: string, fits: (result: readonly Sample[]) => boolean) =>
    expect.poll(async () => fits(await prometheus.query(expression)), { interval: 500, message: expression }).toBe(true)
  /** Values may be wrong for a moment while the machine is busy. */
  const untilValues = (expression: string, label: string, expected: Readonly<Record<string, number>>) =>
    expect
      .poll(async () => values(await prometheus.query(expression), label), {
        interval: 500,
        message: expression,
      })
      .toEqual(expected)
  const some = (result: readonly Sample[]) => result.length > 0
  const none = (result: readonly Sample[]) => result.length === 0
  const values = (result: readonly Sample[], label = 'server') =>
    Object.fromEntries(result.map(({ metric, value }) => [metric[label], Number(value[1])]))

  it('has the state of each server', async () => {
    await untilValues('minecraft_up{job="tickwarden"}', 'server', ups)
    await until(tickRateRatio('{server="lagging"}'), (result) => Number(result[0]?.value[1]) < 0.9)
    await until(tickRateRatio('{server="forge"}'), (result) => Number(result[0]?.value[1]) > 0.9)
    await until(
      'minecraft_tick_frozen{job="tickwarden"} == 1',
      (result) => result.length === 1 && result[0]?.metric.server === 'frozen',
    )
    expect(await prometheus.query('minecraft_players_online{server="down"}')).toEqual([])
    await untilValues('up{job="tickwarden"}', 'job', { tickwarden: 1 })
  })

  it('shows the state of each server', async () => {
    const expected = {
      busy: 'up',
      forge: 'up',
      lagging: 'lagging',
      frozen: 'frozen',
      sprinting: 'sprinting',
      paused: 'paused',
      down: 'down',
    }
    const values = Object.entries(expected).map(([server, text]) => [server, states.find((state) => state.text === text)!.value])
    await untilValues(state('{job="tickwarden"}', 'server'), 'server', Object.fromEntries(values))
    // The highest tick rate is of no help to players: the server sprints.
    await until(tickRateRatio('{server="sprinting"}'), (result) => Number(result[0]?.value[1]) > 2)
    for (const shown of [attention, tickRateRatioOfRunning])
      await until(`(${shown('{server=~"frozen|sprinting|paused"}', 'server')}) > 0`, none)
  })

  it('raises the alerts of the server that is down and of the one that lags, and of no other', async () => {
    const firing = (alert: string) => `count by (server) (ALERTS{alertname="${alert}",server!=""})`
    await untilValues(firing('ServerDown'), 'server', { down: 1 })
    await untilValues(firing('ServerLagging'), 'server', { lagging: 1 })
    for (const { expr } of alerts) await prometheus.query(expr)
    await until(`ALERTS{server=~"${onPurpose.join('|')}"}`, none)
  })

  it.each(['fleet.json', 'server.json', 'internals.json'])('%s: every panel has data', async (file) => {
    const { panels: rows, annotations } = dashboard(file)
    const panels = rows.flatMap((panel) => [panel, ...(panel.panels ?? [])])
    const server = file === 'server.json' ? 'forge' : '.*'
    for (const { title, targets = [] } of panels) {
      const expressions = targets.map(({ expr }) => fill(expr, server))
      for (const expr of expressions) await prometheus.query(expr)
      // Some queries of a panel are for what only some servers have, such as the averages of Paper.
      if (targets.length > 0 && !withoutData.has(title)) await until(expressions.map((expr) => `(${expr})`).join(' or '), some)
    }
    await until('rate(http_request_duration_seconds_count{route="/of/another"}[30s])', some)
    const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => fill(expr, server)))
    for (const expr of shown)
      expect(
        (await prometheus.query(expr)).filter(({ metric }) => metric.route === '/of/another'),
        expr,
      ).toEqual([])
    for (const { expr } of annotations.list ?? []) if (expr !== undefined) await prometheus.query(fill(expr, server))
  })

  it('has the time since a script succeeded', async () => {
    const since = 'time() - max by (script) (tickwarden_script_last_success_timestamp_seconds)'
    await until(since, some)
    const [result] = await prometheus.query(since)
    expect(result?.metric).toEqual({ script: 'projects' })
    expect(Number(result?.value[1])).toBeGreaterThanOrEqual(0)
    expect(Number(result?.value[1])).toBeLessThan(600)
  })

  it('discovers the servers by /sd and probes each by /probe', async () => {
    await untilValues('probe_success{job="probe"}', 'instance', ups)
    await untilValues('minecraft_up{job="probe"}', 'instance', ups)
    expect(await prometheus.query('minecraft_up{job="probe",server!=""}')).toEqual([])
    // It takes two polls, as the alert rules and docs/prometheus-grafana.md explain.
    expect(await prometheus.query('minecraft_tick_rate{job="probe"}')).toEqual([])
    await until('minecraft_tick_duration_p95_seconds{job="probe",instance="busy"}', (result) => result.length === 1)
  })

  it('accepts a scrape without a warning', async () => {
    const healths = async () => {
      const { activeTargets } = (await prometheus.get('/api/v1/targets')) as {
        activeTargets: { health: string; lastError: string }[]
      }
      return [...new Set(activeTargets.map(({ health, lastError }) => `${health} ${lastError}`))]
    }
    await expect.poll(healths, { interval: 500 }).toEqual(['up '])
  })
})
