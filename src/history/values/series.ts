import type { KnownFields } from '../../game/snapshot.ts'

interface Series {
  readonly unit: 'players' | 'ms' | 'ticks/s'
  /** Label for people. */
  readonly label: string
  /** First part of the names of its columns in the database. */
  readonly column: string
  /** Undefined if unknown. */
  read(fields: KnownFields): number | undefined
}

const milliseconds = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000)

/** The recorded series of each server. */
export const series = {
  players: { unit: 'players', label: 'Players', column: 'players', read: ({ playersOnline }) => playersOnline?.value },
  latency: { unit: 'ms', label: 'Latency', column: 'latency', read: ({ latency }) => milliseconds(latency?.value) },
  tickRate: { unit: 'ticks/s', label: 'Tick rate', column: 'tick_rate', read: ({ tickRate }) => tickRate?.value },
  tickTimeMean: {
    ...{ unit: 'ms', label: 'Tick time, mean', column: 'tick_time_mean' },
    read: ({ tickDurationMean }) => milliseconds(tickDurationMean?.value),
  },
  tickTimeP99: {
    ...{ unit: 'ms', label: 'Tick time, p99', column: 'tick_time_p99' },
    read: ({ tickDurationP99 }) => milliseconds(tickDurationP99?.value),
  },
} as const satisfies Record<string, Series>

export type SeriesName = keyof typeof series

export const seriesNames = Object.keys(series) as readonly SeriesName[]
