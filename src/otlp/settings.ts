import { integer, type Kind, oneOf, url } from '../settings/kinds/index.ts'
import { type SliceOf, setting } from '../settings/setting.ts'
import { isDecodable } from '../util/parse-url.ts'

/** `name=value,name=value`, percent-encoded as in the specification of OpenTelemetry. */
const headers: Kind<string> = {
  expected: 'name=value, separated by commas, percent-encoded',
  parse: (given) => (given.split(',').every((part) => /^\s*[^\s=]+=\S*\s*$/.test(part) && isDecodable(part)) ? given : undefined),
}

/** The standard variables that start the export. OpenTelemetry's own packages read the others from the environment. */
export const otlp = {
  otlpEndpoint: setting({
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    kind: url('https:', 'http:'),
    otherwise: 'none: no export',
    meaning: 'URL of an OpenTelemetry collector, to whose path /v1/metrics the metrics are sent',
  }),
  otlpMetricsEndpoint: setting({
    env: 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
    kind: url('https:', 'http:'),
    otherwise: '/v1/metrics of OTEL_EXPORTER_OTLP_ENDPOINT',
    meaning: 'URL to which the metrics are sent',
  }),
  otlpProtocol: setting({
    env: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    kind: oneOf('http/protobuf', 'http/json'),
    default: 'http/protobuf',
    meaning: 'encoding of what is sent',
  }),
  otlpMetricsProtocol: setting({
    env: 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL',
    kind: oneOf('http/protobuf', 'http/json'),
    otherwise: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    meaning: 'encoding of the metrics',
  }),
  otlpHeaders: setting({
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    kind: headers,
    secret: true,
    meaning: 'headers of the requests, such as authorization=Bearer%20secret',
  }),
  otlpMetricsHeaders: setting({
    env: 'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
    kind: headers,
    secret: true,
    meaning: 'headers of the requests that send metrics; they replace those of OTEL_EXPORTER_OTLP_HEADERS with the same name',
  }),
  otlpInterval: setting({
    env: 'OTEL_METRIC_EXPORT_INTERVAL',
    kind: integer(1_000, 86_400_000),
    default: '60000',
    meaning: 'time between two exports in milliseconds',
  }),
  otlpDisabled: setting({
    env: 'OTEL_SDK_DISABLED',
    kind: oneOf('true', 'false'),
    default: 'false',
    meaning: 'true: no export',
  }),
} as const
export type OtlpSettings = SliceOf<typeof otlp>

/** The URL to which metrics are sent; undefined if they are not exported. */
export function otlpUrl({ otlpEndpoint, otlpMetricsEndpoint, otlpDisabled }: OtlpSettings): string | undefined {
  if (otlpDisabled === 'true') return undefined
  if (otlpMetricsEndpoint !== undefined || otlpEndpoint === undefined) return otlpMetricsEndpoint
  const url = new URL(otlpEndpoint)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/metrics`
  url.hash = ''
  return url.href
}

const headersIn = (given = ''): Readonly<Record<string, string>> =>
  Object.fromEntries(
    given.split(',').flatMap((part) => {
      const [name = '', value = ''] = part.trim().split(/=(.*)/s)
      return name === '' ? [] : [[decodeURIComponent(name), decodeURIComponent(value)]]
    }),
  )

/** The headers by name. */
export const otlpHeaders = ({
  otlpHeaders: general,
  otlpMetricsHeaders: own,
}: OtlpSettings): Readonly<Record<string, string>> => ({
  ...headersIn(general),
  ...headersIn(own),
})

/** The values of the headers, and what follows a scheme such as Bearer. */
export const secretsOfOtlp = (settings: OtlpSettings): readonly string[] =>
  Object.values(otlpHeaders(settings)).flatMap((value) => [value, value.replace(/^\S+\s+/, '')])
