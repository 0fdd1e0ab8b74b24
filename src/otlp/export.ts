import { DiagLogLevel, diag } from '@opentelemetry/api'
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  type CollectionResult,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
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

/** What the exporter says of replies that it repeats, without their status. */
const retryable = 'Export failed with retryable status'

/** A key by which equal reasons are recognised, and the reason for the log. */
function describe(error: (Error & { readonly code?: unknown; readonly data?: unknown }) | undefined): readonly [string, string] {
  const { message = 'no reason given', code, data } = error ?? {}
  if (message === retryable) return [message, 'the collector replied with HTTP 429, 502, 503 or 504']
  if (typeof code !== 'number') return [String(code ?? message), message]
  return [String(code), `the collector replied with HTTP ${code} ${message}${data ? `: ${data}` : ''}`]
}

/** Logs what goes wrong: each reason once, until an export succeeds. */
class ExportLog {
  readonly #log: Log
  readonly #reasons = new Set<string>()
  readonly #warnings = new Set<string>()
  #hasFailed = false

  constructor(log: Log) {
    this.#log = log
  }

  /** To be called at the start of each export, which has several requests if there are many metrics. */
  begin(): void {
    if (!this.#hasFailed && this.#reasons.size > 0) {
      this.#reasons.clear()
      this.#log.info('OpenTelemetry: the metrics are exported again')
    }
    this.#hasFailed = false
  }

  readonly failed = (key: string, reason = key): void => {
    this.#hasFailed = true
    if (this.#reasons.has(key)) return
    this.#reasons.add(key)
    this.#log.warn({ reason: reason.slice(0, 300) }, 'OpenTelemetry: the metrics cannot be exported')
  }

  /** @param text constant; the details vary */
  readonly warned = (text: string, ...details: readonly unknown[]): void => {
    if (this.#warnings.has(text)) return
    this.#warnings.add(text)
    this.#log.warn({ reason: [text, ...details].join(' ').slice(0, 300) }, 'OpenTelemetry reports a problem with the export')
  }
}

/** Reports failures to `exportLog` instead of to the reader, which would log a stack in place of the reason. */
const reportFailures = (exporter: PushMetricExporter, exportLog: ExportLog): PushMetricExporter => ({
  export: (metrics, done) =>
    exporter.export(metrics, ({ code, error }) => {
      if (code !== 0) exportLog.failed(...describe(error))
      done({ code: 0 })
    }),
  forceFlush: () => exporter.forceFlush(),
  shutdown: () => exporter.shutdown(),
})

/**
 * Exports the metrics regularly.
 * @returns a function that exports them a last time and stops
 */
export function startOtlp({ settings, url, instance, render, log }: OtlpOptions): () => Promise<void> {
  const exportLog = new ExportLog(log)
  diag.setLogger(
    { error: (text) => exportLog.failed(text), warn: exportLog.warned, info() {}, debug() {}, verbose() {} },
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
    exporter: reportFailures(exporter, exportLog),
    exportIntervalMillis: settings.otlpInterval,
    exportTimeoutMillis: Math.min(settings.otlpInterval, 30_000),
    maxExportBatchSize: maxBatch,
    metricProducers: [
      {
        collect() {
          exportLog.begin()
          return collect(render, log)
        },
      },
    ],
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
