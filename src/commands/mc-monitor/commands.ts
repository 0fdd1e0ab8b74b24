import type { GoFlag } from './flags.ts'

/** One command of mc-monitor. */
export interface McMonitorCommand {
  readonly name: string
  readonly summary: string
  readonly group: 'monitoring' | 'status'
  readonly flags: readonly GoFlag[]
}

const retry: readonly GoFlag[] = [
  { name: 'retry-interval', type: 'duration', default: '10s', meaning: 'time between two attempts' },
  { name: 'retry-limit', type: 'int', default: '0', meaning: 'number of further attempts after a failure' },
]
const proxyMeaning = 'send a PROXY protocol header'
const servers = (env: string): GoFlag => ({
  name: 'servers',
  type: 'list',
  default: '',
  env,
  meaning: 'Java servers, separated by commas; default port 25565',
})
const bedrockServers: GoFlag = {
  name: 'bedrock-servers',
  type: 'list',
  default: '',
  env: 'EXPORT_BEDROCK_SERVERS',
  meaning: 'Bedrock servers, separated by commas; default port 19132',
}

/** The commands with their flags, environment names and defaults. */
export const mcMonitorCommands: readonly McMonitorCommand[] = [
  {
    name: 'status',
    group: 'status',
    summary: 'print the status of a Java server',
    flags: [
      { name: 'host', type: 'string', default: 'localhost', env: 'MC_HOST', meaning: 'host name of the server' },
      { name: 'port', type: 'int', default: '25565', env: 'MC_PORT', meaning: 'port of the server' },
      { name: 'timeout', type: 'duration', default: '15s', meaning: 'timeout of one attempt' },
      ...retry,
      { name: 'json', type: 'bool', default: 'false', meaning: 'print JSON' },
      { name: 'show-player-count', type: 'bool', default: 'false', meaning: 'print only the number of players' },
      { name: 'skip-readiness-check', type: 'bool', default: 'false', meaning: 'accept a server without player slots' },
      { name: 'use-proxy', type: 'bool', default: 'false', meaning: proxyMeaning },
      { name: 'proxy-version', type: 'int', default: '1', meaning: 'version of the PROXY protocol: 1 or 2' },
      { name: 'use-server-list-ping', type: 'bool', default: 'false', meaning: 'for old servers, which are recognised anyway' },
      {
        name: 'use-old-server-list-ping',
        type: 'bool',
        default: 'false',
        meaning: 'for older servers; the version is not printed',
      },
      { name: 'use-mc-utils', type: 'bool', default: 'false', meaning: 'has no effect' },
    ],
  },
  {
    name: 'status-bedrock',
    group: 'status',
    summary: 'print the status of a Bedrock server',
    flags: [
      { name: 'host', type: 'string', default: 'localhost', meaning: 'host name of the server' },
      { name: 'port', type: 'int', default: '19132', meaning: 'port of the server' },
      ...retry,
    ],
  },
  {
    name: 'collect-otel',
    group: 'monitoring',
    summary: 'send metrics to an OpenTelemetry collector',
    flags: [
      servers('EXPORT_SERVERS'),
      bedrockServers,
      { name: 'interval', type: 'duration', default: '10s', env: 'EXPORT_INTERVAL', meaning: 'time between two sends' },
      {
        name: 'otel-collector-endpoint',
        type: 'string',
        default: 'localhost:4317',
        env: 'EXPORT_OTEL_COLLECTOR_ENDPOINT',
        meaning: 'address of the collector, by gRPC without TLS',
      },
      {
        name: 'otel-collector-timeout',
        type: 'duration',
        default: '35s',
        env: 'EXPORT_OTEL_COLLECTOR_TIMEOUT',
        meaning: 'timeout of each server and of the collector',
      },
    ],
  },
  {
    name: 'export-for-prometheus',
    group: 'monitoring',
    summary: 'serve metrics for Prometheus',
    flags: [
      servers('EXPORT_SERVERS'),
      bedrockServers,
      { name: 'port', type: 'int', default: '8080', env: 'EXPORT_PORT', meaning: 'port to listen on' },
      { name: 'timeout', type: 'duration', default: '1m0s', env: 'TIMEOUT', meaning: 'timeout of each server' },
      { name: 'use-proxy', type: 'bool', default: 'false', env: 'EXPORT_USE_PROXY', meaning: proxyMeaning },
      { name: 'proxy-version', type: 'int', default: '1', env: 'EXPORT_PROXY_VERSION', meaning: 'version of the PROXY protocol' },
    ],
  },
  {
    name: 'gather-for-telegraf',
    group: 'monitoring',
    summary: 'send measurements to Telegraf',
    flags: [
      servers('GATHER_SERVERS'),
      { name: 'interval', type: 'duration', default: '1m0s', env: 'GATHER_INTERVAL', meaning: 'time between two measurements' },
      {
        name: 'telegraf-address',
        type: 'string',
        default: 'localhost:8094',
        env: 'GATHER_TELEGRAF_ADDRESS',
        meaning: 'host:port of Telegraf, which accepts the line protocol over TCP',
      },
    ],
  },
]

/** Flags before the command. */
export const topFlags: readonly GoFlag[] = [
  { name: 'debug', type: 'bool', default: 'false', env: 'DEBUG', meaning: 'log more, on the standard error' },
]
