import type { GoFlag, GoValues } from './flags.ts'

/** One command of mc-monitor. */
export interface McMonitorCommand {
  readonly name: string
  readonly summary: string
  readonly group: 'monitoring' | 'status'
  readonly flags: readonly GoFlag[]
  /** @returns the exit code */
  run(values: GoValues, stop: AbortSignal): Promise<number>
}

const flag = (name: string, type: GoFlag['type'], fallback: string, meaning: string, env?: string): GoFlag => ({
  ...{ name, type, default: fallback, meaning },
  ...(env !== undefined && { env }),
})

const retry: readonly GoFlag[] = [
  flag('retry-interval', 'duration', '10s', 'time between two attempts'),
  flag('retry-limit', 'int', '0', 'number of further attempts after a failure'),
]
const proxyMeaning = 'send a PROXY protocol header'
const serversMeaning = 'Java servers, separated by commas; default port 25565'
const bedrockMeaning = 'Bedrock servers, separated by commas; default port 19132'
const bedrockServers = flag('bedrock-servers', 'list', '', bedrockMeaning, 'EXPORT_BEDROCK_SERVERS')

/** The commands with their flags, environment names and defaults. What one runs is loaded when it runs. */
export const mcMonitorCommands: readonly McMonitorCommand[] = [
  {
    name: 'status',
    group: 'status',
    summary: 'print the status of a Java server',
    flags: [
      flag('host', 'string', 'localhost', 'host name of the server', 'MC_HOST'),
      flag('port', 'int', '25565', 'port of the server', 'MC_PORT'),
      flag('timeout', 'duration', '15s', 'timeout of one attempt'),
      ...retry,
      flag('json', 'bool', 'false', 'print JSON'),
      flag('show-player-count', 'bool', 'false', 'print only the number of players'),
      flag('skip-readiness-check', 'bool', 'false', 'accept a server without player slots'),
      flag('use-proxy', 'bool', 'false', proxyMeaning),
      flag('proxy-version', 'int', '1', 'version of the PROXY protocol: 1 or 2'),
      flag('use-server-list-ping', 'bool', 'false', 'for old servers, which are recognised anyway'),
      flag('use-old-server-list-ping', 'bool', 'false', 'for older servers; the version is not printed'),
      flag('use-mc-utils', 'bool', 'false', 'has no effect'),
    ],
    run: async (values, stop) => (await import('./status.ts')).runJavaStatus(values, stop),
  },
  {
    name: 'status-bedrock',
    group: 'status',
    summary: 'print the status of a Bedrock server',
    flags: [
      flag('host', 'string', 'localhost', 'host name of the server'),
      flag('port', 'int', '19132', 'port of the server'),
      ...retry,
    ],
    run: async (values, stop) => (await import('./status.ts')).runBedrockStatus(values, stop),
  },
  {
    name: 'collect-otel',
    group: 'monitoring',
    summary: 'send metrics to an OpenTelemetry collector',
    flags: [
      flag('servers', 'list', '', serversMeaning, 'EXPORT_SERVERS'),
      bedrockServers,
      flag('interval', 'duration', '10s', 'time between two sends', 'EXPORT_INTERVAL'),
      flag(
        'otel-collector-endpoint',
        'string',
        'localhost:4317',
        'address of the collector, by gRPC without TLS',
        'EXPORT_OTEL_COLLECTOR_ENDPOINT',
      ),
      flag(
        'otel-collector-timeout',
        'duration',
        '35s',
        'timeout of each server and of the collector',
        'EXPORT_OTEL_COLLECTOR_TIMEOUT',
      ),
    ],
    run: async (values, stop) => (await import('./collect-otel.ts')).collectOtel(values, stop),
  },
  {
    name: 'export-for-prometheus',
    group: 'monitoring',
    summary: 'serve metrics for Prometheus',
    flags: [
      flag('servers', 'list', '', serversMeaning, 'EXPORT_SERVERS'),
      bedrockServers,
      flag('port', 'int', '8080', 'port to listen on', 'EXPORT_PORT'),
      flag('timeout', 'duration', '1m0s', 'timeout of each server', 'TIMEOUT'),
      flag('use-proxy', 'bool', 'false', proxyMeaning, 'EXPORT_USE_PROXY'),
      flag('proxy-version', 'int', '1', 'version of the PROXY protocol', 'EXPORT_PROXY_VERSION'),
    ],
    run: async (values, stop) => (await import('./monitoring.ts')).exportForPrometheus(values, stop),
  },
  {
    name: 'gather-for-telegraf',
    group: 'monitoring',
    summary: 'send measurements to Telegraf',
    flags: [
      flag('servers', 'list', '', serversMeaning, 'GATHER_SERVERS'),
      flag('interval', 'duration', '1m0s', 'time between two measurements', 'GATHER_INTERVAL'),
      flag(
        'telegraf-address',
        'string',
        'localhost:8094',
        'host:port of Telegraf, which accepts the line protocol over TCP',
        'GATHER_TELEGRAF_ADDRESS',
      ),
    ],
    run: async (values, stop) => (await import('./monitoring.ts')).gatherForTelegraf(values, stop),
  },
]

/** Flags before the command. */
export const topFlags: readonly GoFlag[] = [flag('debug', 'bool', 'false', 'log more, on the standard error', 'DEBUG')]
