import type { GameMode } from './protocol/game-mode.ts'
import type { GarbageCollector, MemoryPool } from './protocol/jolokia.ts'

export interface Player {
  readonly name: string
  /** Dashed lower-case UUID; absent where only the name is known. */
  readonly id?: string
}

export interface PlayerList {
  readonly players: readonly Player[]
  /** False for the status sample, which holds at most 12 of the players. */
  readonly complete: boolean
}

export interface TickCount {
  readonly ticks: number
  /** Monotonic milliseconds (the service's clock) at the moment the counter was read. */
  readonly at: number
}

export interface Dimension {
  /** As the server writes it, e.g. `minecraft:overworld` or `Overworld`. */
  readonly name: string
  /** Mean seconds per tick. */
  readonly tickDurationMean: number
  /** Ticks per second. */
  readonly tickRate: number
}

/** A server upgrades its world while it starts, before anyone can join. */
export interface WorldUpgrade {
  readonly state: 'running' | 'finished' | 'failed'
  /** 0 to 1; only while it is running. */
  readonly progress?: number
}

/** Values of the status reply as the server sent them, for readers that interpret them in their own way. */
export interface RawStatus {
  /** With formatting codes; empty where the server sends none. */
  readonly version: string
  readonly playersOnline?: number
  readonly playersMax?: number
}

/**
 * Everything a source can know of a server, each absent where unknown. Durations are seconds unless stated otherwise.
 * A name here is a key of `fieldDescriptions`, of the precedence table in `snapshot.ts` and of `/api/v1/sources`.
 */
export interface Fields {
  readonly edition: 'java' | 'bedrock'
  /** What a Bedrock server is reached by. */
  readonly transport: 'raknet' | 'nethernet'
  /** The game version alone: `1.21.11`. */
  readonly version: string
  readonly protocol: number
  /** The server software as it names itself: `Paper`, `vanilla`, `Velocity`. */
  readonly software: string
  /** Other servers are behind it. */
  readonly proxy: boolean
  /** The versions of the clients that a proxy accepts, as it writes them: `1.7.2-26.1`. */
  readonly acceptedVersions: string
  /** `Fabric`, `Quilt`, `Forge`, `NeoForge`, `Paper` ...; `vanilla` where known to be. */
  readonly loader: string
  /** Number only. */
  readonly loaderVersion: string
  /** Plain text, lines joined by `\n`. */
  readonly motd: string
  /** `motd` with formatting codes: `§c`, `§l`, other colours as `§#12ab34`. Absent where it has none. */
  readonly formattedMotd: string
  /** The icon as the server gave it, decoded from base64; any format or size. */
  readonly favicon: Buffer
  readonly playersOnline: number
  readonly playersMax: number
  readonly players: PlayerList
  readonly secureChatEnforced: boolean
  readonly defaultGameMode: GameMode
  /** `server-ip` of the server's properties, or the resolved address that is polled. */
  readonly ip: string
  /** The port polled, after SRV. */
  readonly port: number
  /** Round trip of the protocol's own ping. */
  readonly latency: number
  /** A proxy answers for a server that is stopped. Only false: while it is true, the server is not reached. */
  readonly asleep: boolean
  readonly rawStatus: RawStatus
  readonly tickCount: TickCount
  readonly tickDurationMean: number
  readonly tickDurationP50: number
  readonly tickDurationP95: number
  readonly tickDurationP99: number
  /** Longest of the server's last 100 ticks. */
  readonly tickDurationMax: number
  /** Measured ticks per second. */
  readonly tickRate: number
  readonly tickRateTarget: number
  readonly tickFrozen: boolean
  readonly tickSprinting: boolean
  /** The tick counter stands still with nobody on. */
  readonly tickPaused: boolean
  readonly paperTickRates: { readonly '1m': number; readonly '5m': number; readonly '15m': number }
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
  /** How long the server took to start. */
  readonly startupDuration: number
  /** "Can't keep up!" lines since the service began to follow the log. */
  readonly overloadWarnings: number
  readonly overloadSkippedTicks: number
  /** Joins and leaves in the log since the service began to follow it. */
  readonly logJoins: number
  readonly logLeaves: number
  /** Parts of the memory of the server's JVM. */
  readonly jvmMemoryPools: readonly MemoryPool[]
  readonly jvmGarbageCollectors: readonly GarbageCollector[]
  readonly jvmThreads: number
}

export type FieldName = keyof Fields

export interface FieldDescription {
  /** For people, with its article: `the game version`. */
  readonly label: string
  /** Of a number; of a field with several numbers the unit of each. Absent: the number has none, or it is no number. */
  readonly unit?: string
}

/** Every field, described once for whoever shows it. */
export const fieldDescriptions: Readonly<Record<FieldName, FieldDescription>> = {
  edition: { label: 'the edition' },
  transport: { label: 'the transport' },
  version: { label: 'the game version' },
  protocol: { label: 'the protocol version' },
  software: { label: 'the server software' },
  proxy: { label: 'whether it is a proxy' },
  acceptedVersions: { label: 'the versions that a proxy accepts' },
  loader: { label: 'the loader' },
  loaderVersion: { label: 'the loader version' },
  motd: { label: 'the message of the day' },
  formattedMotd: { label: 'the formatting of the message of the day' },
  favicon: { label: 'the icon' },
  playersOnline: { label: 'the player count' },
  playersMax: { label: 'the maximum player count' },
  players: { label: 'the players' },
  secureChatEnforced: { label: 'whether secure chat is enforced' },
  defaultGameMode: { label: 'the default game mode' },
  ip: { label: 'the address' },
  port: { label: 'the port' },
  latency: { label: 'the latency', unit: 'seconds' },
  asleep: { label: 'whether the server is asleep' },
  rawStatus: { label: 'the status as the server sent it' },
  tickCount: { label: 'ticks', unit: 'ticks' },
  tickDurationMean: { label: 'tick times', unit: 'seconds' },
  tickDurationP50: { label: 'tick time percentiles', unit: 'seconds' },
  tickDurationP95: { label: 'tick time percentiles', unit: 'seconds' },
  tickDurationP99: { label: 'tick time percentiles', unit: 'seconds' },
  tickDurationMax: { label: 'the longest tick', unit: 'seconds' },
  tickRate: { label: 'the tick rate', unit: 'ticks per second' },
  tickRateTarget: { label: 'the target tick rate', unit: 'ticks per second' },
  tickFrozen: { label: 'whether ticks are frozen' },
  tickSprinting: { label: 'whether ticks are sprinting' },
  tickPaused: { label: 'whether ticks are paused' },
  paperTickRates: { label: 'tick rates over 1, 5 and 15 minutes', unit: 'ticks per second' },
  dimensions: { label: 'tick times of each dimension' },
  worldDay: { label: 'the day of the world', unit: 'days' },
  worldTimeOfDay: { label: 'the time of day', unit: 'ticks' },
  difficulty: { label: 'the difficulty' },
  viewDistance: { label: 'the view distance', unit: 'chunks' },
  pauseWhenEmpty: { label: 'when an empty server pauses', unit: 'seconds' },
  plugins: { label: 'the plugins' },
  map: { label: 'the map' },
  levelName: { label: 'the level name' },
  worldUpgrade: { label: 'the upgrade of the world' },
  startupDuration: { label: 'the duration of the start', unit: 'seconds' },
  overloadWarnings: { label: 'overload warnings' },
  overloadSkippedTicks: { label: 'ticks skipped by overload', unit: 'ticks' },
  logJoins: { label: 'joins in the log' },
  logLeaves: { label: 'leaves in the log' },
  jvmMemoryPools: { label: 'the memory of the JVM', unit: 'bytes' },
  jvmGarbageCollectors: { label: 'the garbage collections of the JVM', unit: 'seconds' },
  jvmThreads: { label: 'the threads of the JVM' },
}

export const fieldNames = Object.keys(fieldDescriptions) as readonly FieldName[]
