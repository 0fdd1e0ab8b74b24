import http2 from 'node:http2'
import { setTimeout as delay } from 'node:timers/promises'
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics'
import { MetricDataReader, toHrTime } from '../../otlp/metric-data.ts'
import { formatHostPort, parseHostPort } from '../../util/address.ts'
import { version } from '../../util/package.ts'
import type { GoValues } from './flags.ts'
import { addressesOf, intervalOf, noServers, pollGauges } from './monitoring.ts'
import { log } from './ping.ts'

/**
 * The gauges as OpenTelemetry's packages expect them, with the unit of mc-monitor: it calls the response time `ms`, and sends seconds.
 * @param text in the format of Prometheus
 * @param at Unix milliseconds
 */
function toResourceMetrics(text: string, at: number): ResourceMetrics {
  const reader = new MetricDataReader()
  for (const line of text.split('\n')) reader.add(line)
  const metrics = reader.metrics(toHrTime(at), toHrTime(at)).map((metric) => {
    const { descriptor } = metric
    const isTime = descriptor.unit === 's'
    return { ...metric, descriptor: { ...descriptor, name: descriptor.name.replace('_seconds', ''), unit: isTime ? 'ms' : '1' } }
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
async function exportByGrpc(url: string, metrics: ResourceMetrics, timeoutMs: number): Promise<void> {
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
  const [intervalMs, timeoutMs] = [intervalOf(values), values.duration('otel-collector-timeout')]
  while (!stop.aborted) {
    await delay(intervalMs, undefined, { signal: stop }).catch(() => {})
    if (stop.aborted) break
    log('otel\tcollecting OpenTelemetry data', {})
    const text = await pollGauges(addresses, { timeoutMs }, stop).catch((error: unknown) => {
      if (!stop.aborted) throw error
      return undefined
    })
    if (text === undefined) break
    await exportByGrpc(`http://${formatHostPort(endpoint)}`, toResourceMetrics(text, Date.now()), timeoutMs).catch(
      ({ message }: Error) => log('otel\tfailed to export metrics', { error: message }, 'ERROR'),
    )
  }
  return 0
}
