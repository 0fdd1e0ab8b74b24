import { type Check, isBoolean, isCount, isInteger, isListOf, isNumber, isObject, isOneOf, isText, isUuid } from './check.ts'
import { type GameMode, gameModes } from './protocol/game-mode.ts'
import type { GarbageCollector, MemoryPool } from './protocol/jolokia.ts'
import type { WorldUpgrade } from './protocol/management.ts'
import type { Player } from './protocol/player.ts'
import type { Dimension } from './protocol/rcon/forge-tps.ts'
import { type PaperTps, tpsWindows } from './protocol/rcon/paper-tps.ts'

export type { Dimension, Player }

export interface PlayerList {
  readonly players: readonly Player[]
  /** False for the sample in the status, which contains at most 12 players on vanilla servers. */
  readonly complete: boolean
}

export interface TickCount {
  readonly ticks: number
  /** Monotonic milliseconds at which the counter was read. */
  readonly at: number
}

/** Values of the status reply exactly as the server sent them. */
export interface RawStatus {
  /** With formatting codes; empty if the server sends none. */
  readonly version: string
  readonly playersOnline?: number
  readonly playersMax?: number
}

/**
 * Every value that a source can read. Unknown values are absent. Durations are in seconds unless stated otherwise. The names are
 * also the keys of `fieldDescriptions`, `precedence` in `snapshot.ts` and `/api/v1/sources`.
 */
export interface Fields {
  readonly edition: 'java' | 'bedrock'
  /** Only Bedrock. */
  readonly transport: 'raknet' | 'nethernet'
  /** The game version alone: `1.21.11`. */
  readonly version: string
  readonly protocol: number
  /** The server software, as it reports itself: `Paper`, `vanilla`, `Velocity`. */
  readonly software: string
  /** Whether it is a proxy in front of other servers. */
  readonly proxy: boolean
  /** The client versions that a proxy accepts, in its own notation: `1.7.2-26.1`. */
  readonly acceptedVersions: string
  /** `Fabric`, `Quilt`, `Forge`, `NeoForge`, `Paper` ...; `vanilla` if there is none; absent if unknown. */
  readonly loader: string
  /** The number only. */
  readonly loaderVersion: string
  /** Plain text, lines joined by `\n`. */
  readonly motd: string
  /** `motd` with formatting codes: `§c`, `§l`, other colours as `§#12ab34`. Absent if it has none. */
  readonly formattedMotd: string
  /** The icon as the server sent it, decoded from base64; any format or size. */
  readonly favicon: Buffer
  readonly playersOnline: number
  readonly playersMax: number
  readonly players: PlayerList
  readonly secureChatEnforced: boolean
  readonly defaultGameMode: GameMode
  /** `server-ip` in server.properties, or the resolved address that is polled. */
  readonly ip: string
  /** The port that is polled, after SRV resolution. */
  readonly port: number
  /** Round-trip time of the protocol's own ping. */
  readonly latency: number
  /** Only ever false: if a proxy answers for a stopped server, the poll fails with `asleep`. */
  readonly asleep: boolean
  readonly rawStatus: RawStatus
  readonly tickCount: TickCount
  readonly tickDurationMean: number
  readonly tickDurationP50: number
  readonly tickDurationP95: number
  readonly tickDurationP99: number
  /** The longest of the last 100 ticks. */
  readonly tickDurationMax: number
  /** Measured ticks per second. */
  readonly tickRate: number
  readonly tickRateTarget: number
  readonly tickFrozen: boolean
  readonly tickSprinting: boolean
  /** The tick counter does not advance because no players are online. */
  readonly tickPaused: boolean
  readonly paperTickRates: PaperTps
  readonly dimensions: readonly Dimension[]
  readonly worldDay: number
  /** 0 to 23,999 ticks. */
  readonly worldTimeOfDay: number
  readonly difficulty: string
  readonly viewDistance: number
  readonly pauseWhenEmpty: number
  readonly plugins: readonly string[]
  readonly map: string
  readonly levelName: string
  readonly worldUpgrade: WorldUpgrade
  /** Time the server took to start. */
  readonly startupDuration: number
  /** "Can't keep up!" lines in the log since the service started following it. */
  readonly overloadWarnings: number
  readonly overloadSkippedTicks: number
  /** Joins and leaves in the log since the service started following it. */
  readonly logJoins: number
  readonly logLeaves: number
  /** Memory pools of the server's JVM. */
  readonly jvmMemoryPools: readonly MemoryPool[]
  readonly jvmGarbageCollectors: readonly GarbageCollector[]
  readonly jvmThreads: number
}

export type FieldName = keyof Fields

export interface FieldDescription<T = unknown> {
  /** Human-readable name with its article: `the game version`. */
  readonly label: string
  /** Unit of the number, or of each number. Absent if the field is not numeric or has no unit. */
  readonly unit?: string
  /** Whether an untrusted value, such as one of another replica, is a value of the field. */
  readonly check: Check<T>
}

const isPlayer = isObject<Player>({ name: isText }, { id: isUuid })
const isDimension = isObject<Dimension>({ name: isText, tickDurationMean: isNumber, tickRate: isNumber }, {})
const isMemoryPool = isObject<MemoryPool>({ name: isText, usedBytes: isNumber }, { maxBytes: isNumber })
const hasRates = isObject<PaperTps>({}, { '5s': isNumber, '1m': isNumber, '5m': isNumber, '15m': isNumber })
const isPaperTps: Check<PaperTps> = (value): value is PaperTps =>
  hasRates(value) && tpsWindows.some((window) => value[window] !== undefined)
const isGarbageCollector = isObject<GarbageCollector>({ name: isText, collections: isNumber, seconds: isNumber }, {})

/** The description of every field, for the API, the documentation and what comes from other processes. */
export const fieldDescriptions: { readonly [K in FieldName]: FieldDescription<Fields[K]> } = {
  edition: { label: 'the edition', check: isOneOf('java', 'bedrock') },
  transport: { label: 'the transport', check: isOneOf('raknet', 'nethernet') },
  version: { label: 'the game version', check: isText },
  protocol: { label: 'the protocol version', check: isInteger },
  software: { label: 'the server software', check: isText },
  proxy: { label: 'whether it is a proxy', check: isBoolean },
  acceptedVersions: { label: 'the versions that a proxy accepts', check: isText },
  loader: { label: 'the loader', check: isText },
  loaderVersion: { label: 'the loader version', check: isText },
  motd: { label: 'the message of the day', check: isText },
  formattedMotd: { label: 'the formatting of the message of the day', check: isText },
  favicon: { label: 'the icon', check: Buffer.isBuffer },
  playersOnline: { label: 'the player count', check: isInteger },
  playersMax: { label: 'the maximum player count', check: isInteger },
  players: { label: 'the players', check: isObject<PlayerList>({ players: isListOf(isPlayer), complete: isBoolean }, {}) },
  secureChatEnforced: { label: 'whether secure chat is enforced', check: isBoolean },
  defaultGameMode: { label: 'the default game mode', check: isOneOf(...gameModes) },
  ip: { label: 'the address', check: isText },
  port: { label: 'the port', check: isCount },
  latency: { label: 'the latency', unit: 'seconds', check: isNumber },
  asleep: { label: 'whether the server is asleep', check: isBoolean },
  rawStatus: {
    label: 'the status as the server sent it',
    check: isObject<RawStatus>({ version: isText }, { playersOnline: isInteger, playersMax: isInteger }),
  },
  tickCount: { label: 'ticks', unit: 'ticks', check: isObject<TickCount>({ ticks: isInteger, at: isNumber }, {}) },
  tickDurationMean: { label: 'tick times', unit: 'seconds', check: isNumber },
  tickDurationP50: { label: 'tick time percentiles', unit: 'seconds', check: isNumber },
  tickDurationP95: { label: 'tick time percentiles', unit: 'seconds', check: isNumber },
  tickDurationP99: { label: 'tick time percentiles', unit: 'seconds', check: isNumber },
  tickDurationMax: { label: 'the longest tick', unit: 'seconds', check: isNumber },
  tickRate: { label: 'the tick rate', unit: 'ticks per second', check: isNumber },
  tickRateTarget: { label: 'the target tick rate', unit: 'ticks per second', check: isNumber },
  tickFrozen: { label: 'whether ticks are frozen', check: isBoolean },
  tickSprinting: { label: 'whether ticks are sprinting', check: isBoolean },
  tickPaused: { label: 'whether ticks are paused', check: isBoolean },
  paperTickRates: {
    label: 'tick rates over 5 seconds, 1, 5 and 15 minutes',
    unit: 'ticks per second',
    check: isPaperTps,
  },
  dimensions: { label: 'tick times of each dimension', check: isListOf(isDimension) },
  worldDay: { label: 'the day of the world', unit: 'days', check: isNumber },
  worldTimeOfDay: { label: 'the time of day', unit: 'ticks', check: isNumber },
  difficulty: { label: 'the difficulty', check: isText },
  viewDistance: { label: 'the view distance', unit: 'chunks', check: isNumber },
  pauseWhenEmpty: { label: 'when an empty server pauses', unit: 'seconds', check: isNumber },
  plugins: { label: 'the plugins', check: isListOf(isText) },
  map: { label: 'the map', check: isText },
  levelName: { label: 'the level name', check: isText },
  worldUpgrade: {
    label: 'the upgrade of the world',
    check: isObject<WorldUpgrade>({ state: isOneOf('running', 'finished', 'failed') }, { progress: isNumber }),
  },
  startupDuration: { label: 'the duration of the start', unit: 'seconds', check: isNumber },
  overloadWarnings: { label: 'overload warnings', check: isNumber },
  overloadSkippedTicks: { label: 'ticks skipped by overload', unit: 'ticks', check: isNumber },
  logJoins: { label: 'joins in the log', check: isNumber },
  logLeaves: { label: 'leaves in the log', check: isNumber },
  jvmMemoryPools: { label: 'the memory of the JVM', unit: 'bytes', check: isListOf(isMemoryPool) },
  jvmGarbageCollectors: { label: 'the garbage collections of the JVM', unit: 'seconds', check: isListOf(isGarbageCollector) },
  jvmThreads: { label: 'the threads of the JVM', check: isNumber },
}

export const fieldNames = Object.keys(fieldDescriptions) as readonly FieldName[]
