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

export type GameMode = 'SURVIVAL' | 'CREATIVE' | 'ADVENTURE' | 'SPECTATOR'

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

/**
 * Everything a source can know of a server, each absent where unknown. Durations are seconds unless said otherwise.
 * A name here is a key of the precedence table in `snapshot.ts` and of `/api/v1/sources`.
 */
export interface Fields {
  readonly edition: 'java' | 'bedrock'
  /** The game version alone: `1.21.11`. */
  readonly version: string
  readonly protocol: number
  /** The server software as it names itself: `Paper`, `vanilla`, `Velocity`. */
  readonly software: string
  /** `Fabric`, `Quilt`, `Forge`, `NeoForge`, `Paper` ...; `vanilla` where known to be. */
  readonly loader: string
  /** Number only. */
  readonly loaderVersion: string
  /** Plain text, lines joined by `\n`. */
  readonly motd: string
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
  readonly tickCount: TickCount
  readonly tickDurationMean: number
  readonly tickDurationP50: number
  readonly tickDurationP95: number
  readonly tickDurationP99: number
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
  /** How long the server took to start. */
  readonly startupDuration: number
  /** "Can't keep up!" lines since the service began to follow the log. */
  readonly overloadWarnings: number
  readonly overloadSkippedTicks: number
  /** Joins and leaves in the log since the service began to follow it. */
  readonly logJoins: number
  readonly logLeaves: number
}

export type FieldName = keyof Fields
