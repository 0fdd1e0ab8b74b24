import { type Check, isBoolean, isCount, isInteger, isListOf, isNumber, isObject, isOneOf, isText, isUuid } from './check.ts'
import { gameModes } from './protocol/game-mode.ts'
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

/** The description of every field, with what its values are. */
const descriptions = {
  edition: { label: 'the edition', check: isOneOf('java', 'bedrock') },
  /** Only Bedrock. */
  transport: { label: 'the transport', check: isOneOf('raknet', 'nethernet') },
  /** The game version alone: `1.21.11`. */
  version: { label: 'the game version', check: isText },
  protocol: { label: 'the protocol version', check: isInteger },
  /** The server software, as it reports itself: `Paper`, `vanilla`, `Velocity`. */
  software: { label: 'the server software', check: isText },
  /** Whether it is a proxy in front of other servers. */
  proxy: { label: 'whether it is a proxy', check: isBoolean },
  /** The client versions that a proxy accepts, in its own notation: `1.7.2-26.1`. */
  acceptedVersions: { label: 'the versions that a proxy accepts', check: isText },
  /** `Fabric`, `Quilt`, `Forge`, `NeoForge`, `Paper` ...; `vanilla` if there is none; absent if unknown. */
  loader: { label: 'the loader', check: isText },
  /** The number only. */
  loaderVersion: { label: 'the loader version', check: isText },
  /** Plain text, lines joined by `\n`. */
  motd: { label: 'the message of the day', check: isText },
  /** `motd` with formatting codes: `§c`, `§l`, other colours as `§#12ab34`. Absent if it has none. */
  formattedMotd: { label: 'the formatting of the message of the day', check: isText },
  /** The icon as the server sent it, decoded from base64; any format or size. */
  favicon: { label: 'the icon', check: Buffer.isBuffer },
  playersOnline: { label: 'the player count', check: isInteger },
  playersMax: { label: 'the maximum player count', check: isInteger },
  players: { label: 'the players', check: isObject<PlayerList>({ players: isListOf(isPlayer), complete: isBoolean }, {}) },
  secureChatEnforced: { label: 'whether secure chat is enforced', check: isBoolean },
  defaultGameMode: { label: 'the default game mode', check: isOneOf(...gameModes) },
  /** `server-ip` in server.properties, or the resolved address that is polled. */
  ip: { label: 'the address', check: isText },
  /** The port that is polled, after SRV resolution. */
  port: { label: 'the port', check: isCount },
  /** Round-trip time of the protocol's own ping. */
  latency: { label: 'the latency', unit: 'seconds', check: isNumber },
  /** Only ever false: if a proxy answers for a stopped server, the poll fails with `asleep`. */
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
  /** The longest of the last 100 ticks. */
  tickDurationMax: { label: 'the longest tick', unit: 'seconds', check: isNumber },
  /** Measured ticks per second. */
  tickRate: { label: 'the tick rate', unit: 'ticks per second', check: isNumber },
  tickRateTarget: { label: 'the target tick rate', unit: 'ticks per second', check: isNumber },
  tickFrozen: { label: 'whether ticks are frozen', check: isBoolean },
  tickSprinting: { label: 'whether ticks are sprinting', check: isBoolean },
  /** The tick counter does not advance because no players are online. */
  tickPaused: { label: 'whether ticks are paused', check: isBoolean },
  paperTickRates: {
    label: 'tick rates over 5 seconds, 1, 5 and 15 minutes',
    unit: 'ticks per second',
    check: isPaperTps,
  },
  dimensions: { label: 'tick times of each dimension', check: isListOf(isDimension) },
  worldDay: { label: 'the day of the world', unit: 'days', check: isNumber },
  /** 0 to 23,999 ticks. */
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
  /** Time the server took to start. */
  startupDuration: { label: 'the duration of the start', unit: 'seconds', check: isNumber },
  /** "Can't keep up!" lines in the log since the service started following it. */
  overloadWarnings: { label: 'overload warnings', check: isNumber },
  overloadSkippedTicks: { label: 'ticks skipped by overload', unit: 'ticks', check: isNumber },
  /** Joins and leaves in the log since the service started following it. */
  logJoins: { label: 'joins in the log', check: isNumber },
  logLeaves: { label: 'leaves in the log', check: isNumber },
  /** Memory pools of the server's JVM. */
  jvmMemoryPools: { label: 'the memory of the JVM', unit: 'bytes', check: isListOf(isMemoryPool) },
  jvmGarbageCollectors: { label: 'the garbage collections of the JVM', unit: 'seconds', check: isListOf(isGarbageCollector) },
  jvmThreads: { label: 'the threads of the JVM', check: isNumber },
} satisfies Readonly<Record<string, FieldDescription>>

/**
 * Every value that a source can read. Unknown values are absent. Durations are in seconds unless stated otherwise. The names are also
 * the keys of `precedence` in `merge.ts` and of `/api/v1/sources`.
 */
export type Fields = {
  // Not of `FieldName`, with which the comments of the fields would not be shown.
  readonly [K in keyof typeof descriptions]: (typeof descriptions)[K]['check'] extends Check<infer T> ? T : never
}

export type FieldName = keyof Fields

/** The description of every field, for the API, the documentation and what comes from other processes. */
export const fieldDescriptions: { readonly [K in FieldName]: FieldDescription<Fields[K]> } = descriptions

export const fieldNames = Object.keys(fieldDescriptions) as readonly FieldName[]
