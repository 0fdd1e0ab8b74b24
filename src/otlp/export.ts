import { DiagLogLevel, diag } from '@opentelemetry/api'
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { type CollectionResult, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { systemClock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { version } from '../util/package.ts'
import { createPauses } from '../util/pauses.ts'
import { waitUpTo } from '../util/wait-up-to.ts'
import { MetricDataReader, toHrTime } from './metric-data.ts'
import { type OtlpSettings, otlpHeaders } from './settings.ts'

export interface OtlpOptions {
  readonly settings: OtlpSettings
  readonly url: string
  /** Identifies this process among replicas; OTEL_RESOURCE_ATTRIBUTES takes precedence. */
  readonly instance: string
  /** Renders the metrics in the Prometheus text format. */
  readonly render: () => Promise<Iterable<Buffer>>
  readonly log: Log
}

/** Data points per request: collectors limit its size. */
const maxBatch = 5_000

/** Maximum time of the last export, milliseconds. */
const maxCloseMs = 1_000

const startTime = toHrTime(performance.timeOrigin)

/** Converts the metrics in slices: of thousands of servers that takes a while. */
async function collect(render: OtlpOptions['render'], log: Log): Promise<CollectionResult> {
  const reader = new MetricDataReader()
  const errors: unknown[] = []
  try {
    const pauses = createPauses()
    let rest = ''
    const decoder = new TextDecoder()
    for (const part of await render()) {
      const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        reader.add(line)
        if (pauses.isDue()) await pauses.take()
      }
    }
  } catch (error) {
    log.error({ err: error }, 'the metrics cannot be read for OpenTelemetry')
    errors.push(error)
  }
  const metrics = reader.metrics(startTime, toHrTime(Date.now()))
  return {
    resourceMetrics: {
      resource: resourceFromAttributes({}),
      scopeMetrics: [{ scope: { name: 'tickwarden', version }, metrics }],
    },
    errors,
  }
}

/** A failure is logged once until another one occurs, not at each export. */
function logOnce(log: Log) {
  let last = ''
  return (text: string) => {
    const reason = text.slice(0, 300)
    if (reason === last) return
    last = reason
    log.warn({ reason }, 'OpenTelemetry: the metrics cannot be exported')
  }
}

/**
 * Exports the metrics regularly.
 * @returns a function that exports them a last time and stops
 */
export function startOtlp({ settings, url, instance, render, log }: OtlpOptions): () => Promise<void> {
  const warn = logOnce(log)
  diag.setLogger(
    { error: warn, warn, info() {}, debug() {}, verbose() {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const protocol = settings.otlpMetricsProtocol ?? settings.otlpProtocol
  const headers = otlpHeaders(settings)
  const exporter = protocol === 'http/json' ? new JsonExporter({ url, headers }) : new ProtobufExporter({ url, headers })
  const own = resourceFromAttributes({
    'service.name': 'tickwarden',
    'service.version': version,
    'service.instance.id': instance,
  })
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: settings.otlpInterval,
    exportTimeoutMillis: Math.min(settings.otlpInterval, 30_000),
    maxExportBatchSize: maxBatch,
    metricProducers: [{ collect: () => collect(render, log) }],
  })
  const provider = new MeterProvider({ resource: own.merge(detectResources({ detectors: [envDetector] })), readers: [reader] })
  return async () => {
    // Other parts must have time to close too.
    await waitUpTo(
      provider.shutdown().catch(() => {}),
      maxCloseMs,
      systemClock,
    )
    diag.disable()
  }
}
