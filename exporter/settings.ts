import { bearerToken, hostPattern, hostPort, integer, list, oneOf } from '../src/settings/kinds/index.ts'
import { type SliceOf, setting } from '../src/settings/setting.ts'

/** Metrics and probes. */
export const metrics = {
  metricsListen: setting({
    env: 'METRICS_LISTEN',
    file: 'metrics.listen',
    kind: hostPort(),
    otherwise: 'the address of the service',
    meaning: 'separate listen address for metrics',
  }),
  metricsToken: setting({
    env: 'METRICS_TOKEN',
    file: 'metrics.token',
    kind: bearerToken,
    secret: true,
    meaning: 'bearer token for metrics',
  }),
  probeAllow: setting({
    env: 'PROBE_ALLOW',
    file: 'probe.allow',
    kind: list(hostPattern),
    otherwise: 'configured servers only',
    meaning: 'host patterns and CIDR ranges that /probe may reach',
  }),
  probeConcurrency: setting({
    env: 'PROBE_CONCURRENCY',
    file: 'probe.concurrency',
    kind: integer(1, 10_000),
    default: '64',
    meaning: 'maximum number of concurrent probes; further ones get 503',
  }),
  compat: setting({
    env: 'COMPAT',
    file: 'compat',
    kind: list(oneOf('mc-monitor')),
    default: '',
    meaning: 'additional metric names of another exporter: mc-monitor',
  }),
} as const
export type MetricsSettings = SliceOf<typeof metrics>
