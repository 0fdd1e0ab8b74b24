import { slices } from '../config/settings.ts'
import { serverSettings } from '../game/server-settings.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, settingsOf } from '../game/sources/source.ts'
import type { Setting } from '../settings/setting.ts'

/** The settings of one subject, for `--help TOPIC`. */
export interface Topic {
  readonly name: string
  readonly title: string
  readonly settings: readonly Setting<unknown>[]
}

const titles: Readonly<Record<keyof typeof slices, string>> = {
  listen: 'Address of the service',
  poll: 'Polling',
  discovery: 'Lists of servers',
  metrics: 'Metrics',
  history: 'History',
  live: 'Events',
  pictures: 'Pictures',
  page: 'Status page',
  cluster: 'Replicas',
  clients: 'Limits of clients',
  http: 'HTTP',
  log: 'Log',
  otlp: 'OpenTelemetry',
  data: 'Data service',
  runs: 'Runs of the data service',
  scripts: 'Update scripts of the data service',
}

const descriptors: readonly SourceDescriptor[] = sources

/** Every topic with its settings: those of servers first, those of the data service last. */
export const topics: readonly Topic[] = [
  { name: 'server', title: 'Server', settings: Object.values(serverSettings) },
  ...descriptors.map((source) => ({ name: source.name, title: source.title, settings: Object.values(settingsOf(source)) })),
  ...(Object.keys(titles) as (keyof typeof titles)[]).map((name) => ({
    name,
    title: titles[name],
    settings: Object.values(slices[name]),
  })),
].filter(({ settings }) => settings.length > 0)

/** The settings that most users need. */
export const mainSettings = [
  'MC_SERVER',
  'MC_NAME',
  'MC_RCON',
  'MC_RCON_PASSWORD',
  'MC_QUERY',
  'MC_DIRECTORY',
  'HOST',
  'PORT',
  'POLL_INTERVAL',
  'LOG_LEVEL',
] as const
