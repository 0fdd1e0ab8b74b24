import type { FieldName } from '../game/fields.ts'
import type { SourceName } from '../game/sources/source.ts'

/** Every source there is, in the order in which replies name them. */
export const sourceNames = ['status', 'rcon', 'management', 'query', 'directory'] as const satisfies readonly SourceName[]

/** What switches a source on: of the game server's own settings, then of this service's. */
const settingsOf: Readonly<Record<SourceName, string>> = {
  status: 'MC_SERVER',
  rcon: 'enable-rcon=true and MC_RCON_PASSWORD',
  management: 'management-server-enabled=true, MC_MANAGEMENT and MC_MANAGEMENT_SECRET',
  query: 'enable-query=true and MC_QUERY',
  directory: 'MC_DIRECTORY',
}

interface Provided {
  /** The plural that ends "... give". */
  readonly label: string
  /** Best first. */
  readonly by: readonly SourceName[]
  /** What else it takes. */
  readonly where?: string
}

const server: readonly SourceName[] = ['status', 'management', 'query', 'directory']

/** For each field: its name for people and the sources that can give it. */
export const providers: Readonly<Record<FieldName, Provided>> = {
  edition: { label: 'the edition', by: ['status'] },
  version: { label: 'the game version', by: server },
  protocol: { label: 'the protocol version', by: ['status', 'management'] },
  software: { label: 'the server software', by: ['directory', 'status', 'query'] },
  loader: { label: 'the loader', by: ['directory', 'status', 'query'] },
  loaderVersion: { label: 'the loader version', by: ['directory'] },
  motd: { label: 'the message of the day', by: server },
  favicon: { label: 'the icon', by: ['status', 'directory'] },
  playersOnline: { label: 'the player count', by: ['status', 'management', 'rcon', 'query'] },
  playersMax: { label: 'the maximum player count', by: ['status', 'management', 'rcon', 'query', 'directory'] },
  players: { label: 'the players', by: ['management', 'rcon', 'query', 'status'] },
  secureChatEnforced: { label: 'whether secure chat is enforced', by: ['status'], where: 'Java edition' },
  defaultGameMode: { label: 'the default game mode', by: ['management', 'directory'] },
  ip: { label: 'the address', by: ['directory', 'status'] },
  port: { label: 'the port', by: ['status', 'directory'] },
  latency: { label: 'the latency', by: ['status'] },
  tickCount: { label: 'ticks', by: ['rcon'] },
  tickDurationMean: { label: 'tick times', by: ['rcon'], where: 'game version 1.20.3 and later, Paper, Forge, NeoForge' },
  tickDurationP50: { label: 'tick time percentiles', by: ['rcon'], where: 'game version 1.20.3 and later' },
  tickDurationP95: { label: 'tick time percentiles', by: ['rcon'], where: 'game version 1.20.3 and later' },
  tickDurationP99: { label: 'tick time percentiles', by: ['rcon'], where: 'game version 1.20.3 and later' },
  tickRate: { label: 'the tick rate', by: ['rcon'] },
  tickRateTarget: { label: 'the target tick rate', by: ['rcon'], where: 'game version 1.20.3 and later' },
  tickFrozen: { label: 'whether ticks are frozen', by: ['rcon'], where: 'game version 1.20.3 and later' },
  tickSprinting: { label: 'whether ticks are sprinting', by: ['rcon'], where: 'game version 1.20.3 and later' },
  tickPaused: { label: 'whether ticks are paused', by: ['rcon'] },
  paperTickRates: { label: 'tick rates over 1, 5 and 15 minutes', by: ['rcon'], where: 'Paper' },
  dimensions: { label: 'tick times of each dimension', by: ['rcon'], where: 'Forge and NeoForge' },
  worldDay: { label: 'the day of the world', by: ['rcon'] },
  worldTimeOfDay: { label: 'the time of day', by: ['rcon'] },
  difficulty: { label: 'the difficulty', by: ['management', 'rcon', 'directory'] },
  viewDistance: { label: 'the view distance', by: ['management', 'directory'] },
  pauseWhenEmpty: { label: 'when an empty server pauses', by: ['management', 'directory'] },
  plugins: { label: 'the plugins', by: ['query', 'directory'] },
  map: { label: 'the map', by: ['query'] },
  levelName: { label: 'the level name', by: ['directory'] },
  startupDuration: { label: 'the duration of the start', by: ['directory'] },
  overloadWarnings: { label: 'overload warnings', by: ['directory'] },
  overloadSkippedTicks: { label: 'ticks skipped by overload', by: ['directory'] },
  logJoins: { label: 'joins in the log', by: ['directory'] },
  logLeaves: { label: 'leaves in the log', by: ['directory'] },
}

export const fieldNames = Object.keys(providers) as readonly FieldName[]

/**
 * Which settings would give a field that is unknown: `enable-rcon=true and MC_RCON_PASSWORD give ticks`.
 * Undefined where every source that can give it is on already.
 */
export function settingFor(field: FieldName, configured: ReadonlySet<SourceName>): string | undefined {
  const { label, by, where } = providers[field]
  const [first, ...others] = by.filter((source) => !configured.has(source)).map((source) => settingsOf[source])
  if (first === undefined) return undefined
  const verb = first.includes(' and ') || others.length > 0 ? 'give' : 'gives'
  return `${[first, ...others].join('; or ')} ${verb} ${label}${where === undefined ? '' : ` (${where})`}`
}
