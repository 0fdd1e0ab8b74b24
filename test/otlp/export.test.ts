import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { startOtlp } from '../../src/otlp/export.ts'
import type { Log } from '../../src/util/log.ts'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { buildTestApp } from '../helpers/test-app.ts'
import { until } from '../helpers/until.ts'

interface Point {
  readonly startTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[]
  readonly asDouble?: number
  readonly asInt?: number
  readonly count?: number
  readonly sum?: number
  readonly bucketCounts?: readonly number[]
  readonly explicitBounds?: readonly number[]
}

interface Metric {
  readonly name: string
  readonly unit: string
  readonly description: string
  readonly gauge?: { readonly dataPoints: readonly Point[] }
  readonly sum?: { readonly dataPoints: readonly Point[]; readonly isMonotonic: boolean; readonly aggregationTemporality: number }
  readonly histogram?: { readonly dataPoints: readonly Point[] }
}

const scripts = { 'a "b"\\c': { status: { playersOnline: 3, playersMax: 20, latency: 0.0125, version: '1.21.11' } }, lobby: {} }

test('exports the metrics of /metrics with their names, labels, values and units', async () => {
  const receiver = await startReceiver((response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/base/`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
  }
  const { app, get } = await buildTestApp({ scripts, env })
  const lines = (await (await get('/metrics')).text()).split('\n')
  await until(() => receiver.accepted.length > 0)
  await app.close()
  const [first] = receiver.accepted
  expect(first).toMatchObject({ method: 'POST', path: '/base/v1/metrics' })
  expect(first?.headers['content-type']).toBe('application/json')
  const batches = receiver.accepted.flatMap(({ json }) => json.resourceMetrics)
  const attributes = Object.fromEntries(
    batches[0].resource.attributes.map(({ key, value }: Point['attributes'][number]) => [key, value.stringValue]),
  )
  expect(attributes).toMatchObject({ 'service.name': 'tickwarden', 'service.instance.id': expect.stringMatching(/:\d+$/) })
  const metrics: readonly Metric[] = receiver.accepted.at(-1)?.json.resourceMetrics[0].scopeMetrics[0].metrics
  const find = (name: string) => metrics.find((metric) => metric.name === name)
  expect(find('minecraft_up')).toMatchObject({ unit: '', description: expect.stringContaining('1 if the last poll') })
  const up = find('minecraft_up')?.gauge?.dataPoints.map(({ attributes: [label], asDouble }) => [
    label?.key,
    label?.value.stringValue,
    asDouble,
  ])
  expect(up).toContainEqual(['server', 'a "b"\\c', 1])
  expect(find('minecraft_status_latency_seconds')).toMatchObject({ unit: 's', gauge: { dataPoints: [{ asDouble: 0.0125 }] } })
  expect(find('process_resident_memory_bytes')?.unit).toBe('By')
  expect(find('tickwarden_event_clients_dropped_total')?.sum).toMatchObject({ isMonotonic: true, aggregationTemporality: 2 })
  // A counter of a game server, and one of a server that was added later, did not start with the process.
  expect(new Set(find('minecraft_polls_total')?.sum?.dataPoints.map((point) => point.startTimeUnixNano))).toEqual(new Set(['0']))
  const sinceStart = find('tickwarden_event_clients_dropped_total')?.sum?.dataPoints[0]?.startTimeUnixNano
  expect(Number(sinceStart) / 1e6).toBeCloseTo(performance.timeOrigin, -1)
  const requests = find('http_request_duration_seconds')?.histogram?.dataPoints[0]
  expect(requests?.count).toBeGreaterThan(0)
  expect(requests?.bucketCounts?.length).toBe((requests?.explicitBounds?.length ?? 0) + 1)
  expect(requests?.bucketCounts?.reduce((sum, count) => sum + count, 0)).toBe(requests?.count)
  // Every metric of /metrics, and no other.
  const names = lines.flatMap((line) => /^# TYPE (\w+) /.exec(line)?.[1] ?? []).filter((name) => !/^(nodejs_gc|http_)/.test(name))
  expect(metrics.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
})

test('sends protobuf by default, and nothing if it is turned off', async () => {
  const receiver = await startReceiver((response) => response.writeHead(200).end())
  const url = `${receiver.url}/own`
  const off = await buildTestApp({ scripts, env: { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url, OTEL_SDK_DISABLED: 'true' } })
  await off.app.close()
  expect(receiver.requests).toEqual([])
  const headers = 'authorization=Bearer%20key,x-scope=1'
  const { app } = await buildTestApp({
    scripts,
    env: { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url, OTEL_EXPORTER_OTLP_HEADERS: headers },
  })
  // The last export, when the service stops.
  await app.close()
  await until(() => receiver.accepted.length > 0)
  expect(receiver.accepted[0]).toMatchObject({
    path: '/own',
    headers: { 'content-type': 'application/x-protobuf', authorization: 'Bearer key', 'x-scope': '1' },
  })
  expect(receiver.accepted[0]?.body).toContain('minecraft_players_online')
})

test('logs each reason of a failure once, and when exports succeed again', async () => {
  const partialSuccess = { rejectedDataPoints: '3', errorMessage: 'too old' }
  const receiver = await startReceiver((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ partialSuccess })),
  )
  const unauthorised = (response: ServerResponse) => void response.writeHead(401).end('no token')
  const busy = (response: ServerResponse) => void response.writeHead(429, { 'retry-after': '60' }).end()
  receiver.answers.push(unauthorised, unauthorised, busy)
  const lines: string[] = []
  const add = ({ reason = '' }: { readonly reason?: string }, text = '') => lines.push(`${text}: ${reason}`)
  const log = { debug() {}, info: (text: string) => lines.push(text), warn: add, error: add } as unknown as Log
  const stop = startOtlp({
    settings: { ...loadConfig({ env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, watches: false }).otlp, otlpInterval: 300 },
    ...{ url: receiver.url, instance: 'test', log },
    render: async () => [Buffer.from('# HELP up Up.\n# TYPE up gauge\nup 1\n')],
  })
  onTestFinished(stop)
  // On a busy machine an export may also take too long.
  const told = () => lines.filter((line) => !line.includes('timed out'))
  const failed = 'OpenTelemetry: the metrics cannot be exported'
  const rejected = `Received Partial Success response: ${JSON.stringify(partialSuccess)}`
  const expected = [
    `${failed}: the collector replied with HTTP 401 Unauthorized: no token`,
    `${failed}: the collector replied with HTTP 429, 502, 503 or 504`,
    `OpenTelemetry reports a problem with the export: ${rejected}`,
    'OpenTelemetry: the metrics are exported again',
  ]
  await expect.poll(told).toEqual(expected)
  receiver.answers.push(unauthorised)
  await expect.poll(told).toEqual([...expected, expected[0]])
})
