import type { FieldName } from '../game/fields.ts'
import { precedence } from '../game/snapshot.ts'
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

interface Label {
  /** What a source gives, in the words that end "... give". */
  readonly label: string
  /** What else it takes. */
  readonly where?: string
}

/** The name of each field for people. */
const labels: Readonly<Record<FieldName, Label>> = {
  edition: { label: 'the edition' },
  version: { label: 'the game version' },
  protocol: { label: 'the protocol version' },
  software: { label: 'the server software' },
  loader: { label: 'the loader' },
  loaderVersion: { label: 'the loader version' },
  motd: { label: 'the message of the day' },
  favicon: { label: 'the icon' },
  playersOnline: { label: 'the player count' },
  playersMax: { label: 'the maximum player count' },
  players: { label: 'the players' },
  secureChatEnforced: { label: 'whether secure chat is enforced', where: 'Java edition' },
  defaultGameMode: { label: 'the default game mode' },
  ip: { label: 'the address' },
  port: { label: 'the port' },
  latency: { label: 'the latency' },
  tickCount: { label: 'ticks' },
  tickDurationMean: { label: 'tick times', where: 'game version 1.20.3 and later, Paper, Forge, NeoForge' },
  tickDurationP50: { label: 'tick time percentiles', where: 'game version 1.20.3 and later' },
  tickDurationP95: { label: 'tick time percentiles', where: 'game version 1.20.3 and later' },
  tickDurationP99: { label: 'tick time percentiles', where: 'game version 1.20.3 and later' },
  tickRate: { label: 'the tick rate' },
  tickRateTarget: { label: 'the target tick rate', where: 'game version 1.20.3 and later' },
  tickFrozen: { label: 'whether ticks are frozen', where: 'game version 1.20.3 and later' },
  tickSprinting: { label: 'whether ticks are sprinting', where: 'game version 1.20.3 and later' },
  tickPaused: { label: 'whether ticks are paused' },
  paperTickRates: { label: 'tick rates over 1, 5 and 15 minutes', where: 'Paper' },
  dimensions: { label: 'tick times of each dimension', where: 'Forge and NeoForge' },
  worldDay: { label: 'the day of the world' },
  worldTimeOfDay: { label: 'the time of day' },
  difficulty: { label: 'the difficulty' },
  viewDistance: { label: 'the view distance' },
  pauseWhenEmpty: { label: 'when an empty server pauses' },
  plugins: { label: 'the plugins' },
  map: { label: 'the map' },
  levelName: { label: 'the level name' },
  startupDuration: { label: 'the duration of the start' },
  overloadWarnings: { label: 'overload warnings' },
  overloadSkippedTicks: { label: 'ticks skipped by overload' },
  logJoins: { label: 'joins in the log' },
  logLeaves: { label: 'leaves in the log' },
}

export const fieldNames = Object.keys(labels) as readonly FieldName[]

/** What a server's sources are, as far as hints depend on it. */
export interface SourceSituation {
  readonly edition: 'java' | 'bedrock'
  /** How each source that is on does: undefined while there is nothing to tell, else why it failed. */
  readonly failures: ReadonlyMap<SourceName, string | undefined>
}

/**
 * Which settings would give a field that is unknown: `enable-rcon=true and MC_RCON_PASSWORD give ticks`; of a source that is on
 * and fails, what to check. Undefined where every source that can give it is on and answers.
 */
export function settingFor(field: FieldName, { edition, failures }: SourceSituation): string | undefined {
  const { label, where } = labels[field]
  // What a Bedrock server tells at all, it tells in its status.
  const able = precedence[field].filter((source) => edition === 'java' || source === 'status')
  const [first, ...others] = able.filter((source) => !failures.has(source)).map((source) => settingsOf[source])
  const verb = first?.includes(' and ') || others.length > 0 ? 'give' : 'gives'
  const place = where === undefined ? '' : ` (${where})`
  const off = first === undefined ? [] : [`${[first, ...others].join('; or ')} ${verb} ${label}${place}`]
  const failing = able.flatMap((source) => {
    const code = failures.get(source)
    return code === undefined ? [] : [`${source} fails (${code}) and would give ${label}${place}: check ${settingsOf[source]}`]
  })
  return [...failing, ...off].join('; or ') || undefined
}
