import http2 from 'node:http2'
import { setTimeout as delay } from 'node:timers/promises'
import { type Attributes, ValueType } from '@opentelemetry/api'
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType, type MetricData, type ResourceMetrics } from '@opentelemetry/sdk-metrics'
import { toHrTime } from '../../otlp/metric-data.ts'
import { formatHostPort, parseHostPort } from '../../util/address.ts'
import { version } from '../../util/package.ts'
import type { GoValues } from './flags.ts'
import { addressesOf, gauges, log, noServers, type PingedServer, pingAll, readingOf } from './monitoring.ts'

/** What was read, as OpenTelemetry's packages expect it. @param at Unix milliseconds */
export function toResourceMetrics(servers: readonly PingedServer[], at: number): ResourceMetrics {
  const times = { startTime: toHrTime(at), endTime: toHrTime(at) }
  const metrics = Object.entries(gauges).map(([name, { of, ...descriptor }]): MetricData => {
    const dataPoints = servers.flatMap((server) => {
      const { [of]: value } = readingOf(server)
      const { edition, host, port } = server.address
      const attributes: Attributes = {
        ...{ server_host: host, server_port: String(port), server_edition: edition },
        ...(server.result !== undefined && { server_version: server.result.version }),
      }
      return value === undefined ? [] : [{ ...times, attributes, value }]
    })
    return {
      descriptor: { name, ...descriptor, valueType: ValueType.DOUBLE },
      ...{ aggregationTemporality: AggregationTemporality.CUMULATIVE, dataPointType: DataPointType.GAUGE, dataPoints },
    }
  })
  const resource = resourceFromAttributes({ 'service.name': 'mc-monitor', 'service.version': version })
  return { resource, scopeMetrics: [{ scope: { name: 'minecraft' }, metrics }] }
}

const path = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export'
/** A message of gRPC begins with a byte for its compression (none), and its length. */
const prefixLength = 5

/**
 * Sends the metrics to a collector by gRPC without TLS: one request by HTTP/2, whose outcome is in the trailers.
 * @throws Error with the reason
 */
export async function exportByGrpc(url: string, metrics: ResourceMetrics, timeoutMs: number): Promise<void> {
  const message = ProtobufMetricsSerializer.serializeRequest(metrics)
  if (message === undefined) throw new Error('the metrics cannot be encoded')
  const body = Buffer.concat([Buffer.alloc(prefixLength), message])
  body.writeUInt32BE(message.length, 1)
  const session = http2.connect(url)
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no reply within ${timeoutMs} ms`)), timeoutMs)
      session.on('error', reject)
      const stream = session.request({
        ...{ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' },
      })
      const onHeaders = (headers: http2.IncomingHttpHeaders) => {
        const code = headers['grpc-status']
        if (code !== undefined && code !== '0') reject(new Error(`gRPC status ${code} ${headers['grpc-message'] ?? ''}`.trim()))
      }
      stream.on('response', onHeaders).on('trailers', onHeaders).on('error', reject).resume()
      stream.on('close', () => {
        clearTimeout(timer)
        resolve()
      })
      stream.end(body)
    })
  } finally {
    session.destroy()
  }
}

/** Sends the gauges of every server at an interval until it is stopped. */
export async function collectOtel(values: GoValues, stop: AbortSignal): Promise<number> {
  const addresses = addressesOf(values)
  const endpoint = parseHostPort(values.text('otel-collector-endpoint'), 4317)
  if (addresses.length === 0 || endpoint === undefined) {
    process.stderr.write(addresses.length === 0 ? noServers : 'the open telemetry endpoint must be set\n')
    return 2
  }
  for (const { edition, host, port } of addresses)
    log(`otel\tadding ${edition === 'java' ? 'Java' : 'Bedrock'} server`, { host, port: String(port) })
  const [intervalMs, timeoutMs] = [values.duration('interval'), values.duration('otel-collector-timeout')]
  while (!stop.aborted) {
    await delay(intervalMs, undefined, { signal: stop }).catch(() => {})
    if (stop.aborted) break
    log('otel\tcollecting OpenTelemetry data', {})
    const servers = await pingAll(addresses, { timeoutMs }, stop)
    await exportByGrpc(`http://${formatHostPort(endpoint)}`, toResourceMetrics(servers, Date.now()), timeoutMs).catch(
      ({ message }: Error) => log('otel\tfailed to export metrics', { error: message }, 'ERROR'),
    )
  }
  return 0
}
