import { allSettings, settings, slices } from '../config/settings.ts'
import { serverSettings } from '../game/server-settings.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, settingsOf } from '../game/sources/source.ts'
import { flagOf, meaningOf, type Setting, type SettingTable } from '../settings/setting.ts'

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

/** The settings of one subject, for `--help TOPIC`. */
const topicOf = (name: string, title: string, table: SettingTable) => ({ name, title, settings: Object.values(table) })

/** Every topic with its settings: those of servers first, those of the data service last. */
export const topics = [
  topicOf('server', 'Server', serverSettings),
  ...sources.map((source: SourceDescriptor) => topicOf(source.name, source.title, settingsOf(source))),
  ...(Object.keys(titles) as (keyof typeof titles)[]).map((name) => topicOf(name, titles[name], slices[name])),
].filter(({ settings }) => settings.length > 0)

/** The settings that most users need. */
const mainSettings = [
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

const fallback = ({ default: given, otherwise }: Setting<unknown>): string =>
  given ? ` [${given}]` : otherwise ? ` [${otherwise}]` : ''

function rows(list: readonly Setting<unknown>[]): readonly string[] {
  const width = Math.max(...allSettings.map(({ env }) => env.length)) + 2
  return list.map((setting) => `  ${setting.env.padEnd(width)}${meaningOf(setting)}${fallback(setting)}`)
}

const introduction = [
  'Settings, with their defaults in brackets. Each can be set as an environment variable or as a flag (MC_SERVER is',
  '--mc-server). Most can also be set in tickwarden.yaml, or in the file that --config or TICKWARDEN_CONFIG names, which can',
  'list many servers (see docs/many-servers.md); settings that begin with MC_ then apply to the first server. Flags take',
  'precedence over the environment, the environment over the file. Passwords, secrets, tokens and keys have no flag: set the',
  `variable, or set NAME_FILE (${flagOf(settings.runToken)}) to a file that contains the value.`,
]

/** Every setting by topic: environment name, meaning, default in brackets. The settings of the data service are last. */
export function settingsHelp(): string {
  const known = new Set(topics.flatMap((topic) => topic.settings.map(({ env }) => env)))
  // A source or provider that a test adds is in no topic.
  const others = allSettings.filter(({ env }) => !known.has(env))
  const parts = [...topics, ...(others.length > 0 ? [{ name: 'other', title: 'Other', settings: others }] : [])]
  return [
    '',
    ...introduction,
    ...parts.flatMap(({ name, title, settings }) => ['', `${title} (--help ${name}):`, ...rows(settings)]),
  ].join('\n')
}

/** The settings that most users need. */
export function mainSettingsHelp(): string {
  const list = mainSettings.flatMap((env) => allSettings.find((setting) => setting.env === env) ?? [])
  return [
    'The settings that most users need, as environment variables or flags (MC_SERVER is --mc-server):',
    ...rows(list),
    '',
    'More: --help all, or --help with a topic:',
    `  ${topics.map(({ name }) => name).join(', ')}`,
  ].join('\n')
}

/** The settings of one topic; undefined if there is no such topic. `sources` are those of every source. */
export function topicHelp(topic: string): string | undefined {
  if (topic === 'all') return settingsHelp().trimStart()
  const sourceTopics = topics.filter(({ settings }) => settings.some(({ env }) => env.startsWith('MC_')))
  const found = topic === 'sources' ? sourceTopics : topics.filter(({ name }) => name === topic)
  if (found.length === 0) return undefined
  return found
    .flatMap(({ title, settings }) => [`${title}:`, ...rows(settings), ''])
    .join('\n')
    .trimEnd()
}
