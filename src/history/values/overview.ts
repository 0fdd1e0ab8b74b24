import { dayMs, type Level, levels } from './levels.ts'

/** How the last 24 hours and 90 days of a server are divided. */
export const overviewParts = { up: 48, players: 72, days: 90 } as const

/**
 * Positions of the first value of each kind among those of a server. `daysUp` and `daysKnown` are parts of each UTC day. The last value is
 * that of `since`, milliseconds after `from`.
 */
const at = {
  up: 0,
  players: overviewParts.up,
  daysUp: overviewParts.up + overviewParts.players,
  daysKnown: overviewParts.up + overviewParts.players + overviewParts.days,
} as const
const since = at.daysKnown + overviewParts.days
const size = since + 1

/** The last 24 hours and 90 days of all servers. */
export interface OverviewValues {
  /** Unix milliseconds of the 24 hours; `to` is the end of the ten minutes that are not over yet. */
  readonly from: number
  readonly to: number
  /** Number of the last day since 1970. */
  readonly today: number
  /** Those of each server, by its number in the database; NaN where unknown. They stay until the second call after this one. */
  readonly values: Float32Array
}

/** The last 24 hours and 90 days of one server, oldest first; null where unknown. */
export interface ServerOverview {
  readonly from: number
  readonly to: number
  /** The part of the known time in which the server was up. */
  readonly up: readonly (number | null)[]
  readonly players: readonly (number | null)[]
  /** Unix milliseconds from which on the state was known in the 24 hours; null if it was not. */
  readonly since: number | null
  /** `date`: UTC; `known`: the part of the day in which the state was known. */
  readonly days: readonly { readonly date: string; readonly up: number | null; readonly known: number }[]
}

/** The players of the last 24 hours in steps, oldest first; null where unknown. Milliseconds. */
export interface PlayerCounts<S = string> {
  readonly from: number
  readonly step: number
  /** On all servers together. */
  readonly total: readonly (number | null)[]
  readonly servers: readonly { readonly server: S; readonly players: readonly (number | null)[] }[]
}

/** The rows of a level that begin at a time: number of the server, `known_ms`, `up_ms`, `players_mean` and `players_known_ms`. */
type ReadRows = (level: Level, time: number) => readonly (readonly (number | null)[])[]

/** Of each server, by its number in the database, and in this order: milliseconds, but for the mean number of players. */
const bucketValues = { known: 0, up: 1, players: 2, playersKnown: 3 } as const
/** Only the first two of them are read of a day. */
const valuesOf = { recent: 4, day: 2 } as const

/** Buckets that are read again each time, because they may still change. */
const maxOpen = 2

/** Makes the overview of all servers. Buckets that are over are read once. */
export class Overview {
  readonly #read: ReadRows
  #recent = new Map<number, Float32Array>()
  #days = new Map<number, Float32Array>()
  /**
   * The last two arrays that were handed out. They are used again, and shared with the thread that reads them: handing over megabytes made
   * its collections of garbage block the event loop for 20 to 30 ms (`npm run bench -- history`).
   */
  #values: readonly [Float32Array | undefined, Float32Array | undefined] = [undefined, undefined]

  constructor(read: ReadRows) {
    this.#read = read
  }

  /** @param servers largest number of a server; @param now Unix milliseconds */
  values(servers: number, now: number): OverviewValues {
    const to = this.#refreshRecent(servers, now)
    const today = Math.floor(now / dayMs)
    this.#days = this.#refresh(this.#days, levels[3], (today + 1) * dayMs, overviewParts.days, servers)
    const [recent, days] = [[...this.#recent.values()], [...this.#days.values()]]
    const values = this.#nextValues((servers + 1) * size)
    for (let server = 0; server <= servers; server++) {
      const own = values.subarray(server * size, (server + 1) * size)
      joinUp(recent, server * valuesOf.recent, own.subarray(at.up, at.players))
      joinPlayers(recent, server, own.subarray(at.players, at.daysUp))
      joinUp(days, server * valuesOf.day, own.subarray(at.daysUp, at.daysKnown))
      let day = at.daysKnown
      for (const bucket of days) own[day++] = (bucket[server * valuesOf.day + bucketValues.known] ?? 0) / dayMs
      own[since] = this.#knownFrom(server, now) - (to - dayMs)
    }
    return { from: to - dayMs, to, today, values }
  }

  /**
   * @param servers largest number of a server
   * @param wanted numbers of the servers that are counted
   * @param maxServers how many of them have values of their own: those with the most players, in their order
   */
  playerCounts(servers: number, wanted: readonly number[], maxServers: number, now: number): PlayerCounts<number> {
    const { step } = levels[2]
    const from = this.#refreshRecent(servers, now) - dayMs
    const buckets = [...this.#recent.values()]
    const counted = wanted.map((server, order) => {
      const players = buckets.map((bucket) => playersIn(bucket, server))
      return { server, order, players, sum: players.reduce((sum, count) => sum + (count || 0), 0) }
    })
    const total = buckets.map((_, index) => {
      const known = counted.filter(({ players }) => !Number.isNaN(players[index]))
      return known.length === 0 ? null : round(known.reduce((sum, { players }) => sum + (players[index] ?? 0), 0))
    })
    const largest = counted.toSorted((a, b) => b.sum - a.sum).slice(0, maxServers)
    return {
      ...{ from, step, total },
      servers: largest
        .sort((a, b) => a.order - b.order)
        .map(({ server, players }) => ({ server, players: players.map((count) => (Number.isNaN(count) ? null : round(count))) })),
    }
  }

  /** Values of this time are written: late, if the database was locked before. */
  forget(time: number): void {
    for (const [buckets, { step }] of [[this.#recent, levels[2]] as const, [this.#days, levels[3]] as const])
      buckets.delete(Math.floor(time / step) * step)
  }

  /** The array that was handed out before the last one if it is as long, else a new one. */
  #nextValues(length: number): Float32Array {
    const [next, last] = this.#values
    const values =
      next?.length === length ? next : new Float32Array(new SharedArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT))
    this.#values = [last, values]
    return values.fill(Number.NaN)
  }

  /** When the state was first known in the last 24 hours: to the end of the first ten minutes with any values. NaN if it was not. */
  #knownFrom(server: number, now: number): number {
    for (const [time, bucket] of this.#recent) {
      const known = bucket[server * valuesOf.recent + bucketValues.known] ?? 0
      if (known > 0) return Math.min(time + levels[2].step, now) - known
    }
    return Number.NaN
  }

  /** @returns the end of the ten minutes that are not over yet */
  #refreshRecent(servers: number, now: number): number {
    const { step } = levels[2]
    const to = (Math.floor(now / step) + 1) * step
    this.#recent = this.#refresh(this.#recent, levels[2], to, dayMs / step, servers)
    return to
  }

  /** The last `count` buckets of a level up to `end`, oldest first. */
  #refresh(before: ReadonlyMap<number, Float32Array>, level: Level, end: number, count: number, servers: number) {
    const buckets = new Map<number, Float32Array>()
    for (let index = count; index > 0; index--) {
      const time = end - index * level.step
      const known = index > maxOpen ? before.get(time) : undefined
      buckets.set(time, known ?? this.#bucket(level, time, servers))
    }
    return buckets
  }

  #bucket(level: Level, time: number, servers: number): Float32Array {
    const size = level === levels[3] ? valuesOf.day : valuesOf.recent
    const bucket = new Float32Array((servers + 1) * size)
    for (const [server, known, up, players, playersKnown] of this.#read(level, time)) {
      const values = [known ?? 0, up ?? 0, players ?? Number.NaN, playersKnown ?? 0]
      bucket.set(size === values.length ? values : values.slice(0, size), (server ?? 0) * size)
    }
    return bucket
  }
}

/** The mean number of players of a server; NaN where unknown. */
const playersIn = (bucket: Float32Array, server: number): number =>
  bucket[server * valuesOf.recent + bucketValues.known]
    ? (bucket[server * valuesOf.recent + bucketValues.players] ?? Number.NaN)
    : Number.NaN

/** A mean with one decimal. */
const round = (players: number): number => Math.round(players * 10) / 10

/** Of as many buckets each, the part of the known time in which the server was up. @param first position of its first value in each */
function joinUp(buckets: readonly Float32Array[], first: number, parts: Float32Array): void {
  const count = buckets.length / parts.length
  for (let part = 0; part < parts.length; part++) {
    let [known, up] = [0, 0]
    for (let index = part * count; index < (part + 1) * count; index++) {
      known += buckets[index]?.[first + bucketValues.known] ?? 0
      up += buckets[index]?.[first + bucketValues.up] ?? 0
    }
    parts[part] = known === 0 ? Number.NaN : up / known
  }
}

/** Of as many buckets each, the mean number of players in the time in which it was known. */
function joinPlayers(buckets: readonly Float32Array[], server: number, parts: Float32Array): void {
  const count = buckets.length / parts.length
  for (let part = 0; part < parts.length; part++) {
    let [known, sum] = [0, 0]
    for (let index = part * count; index < (part + 1) * count; index++) {
      const bucket = buckets[index]
      const players = bucket === undefined ? Number.NaN : playersIn(bucket, server)
      if (Number.isNaN(players)) continue
      const weight = bucket?.[server * valuesOf.recent + bucketValues.playersKnown] ?? 0
      known += weight
      sum += players * weight
    }
    parts[part] = known === 0 ? Number.NaN : sum / known
  }
}

/** The values of one server. */
export function overviewOf({ from, to, today, values }: OverviewValues, server: number): ServerOverview {
  const read = (begin: number, count: number, digits: number) =>
    Array.from({ length: count }, (_, index) => {
      const value = server < 0 ? Number.NaN : (values[server * size + begin + index] ?? Number.NaN)
      return Number.isNaN(value) ? null : Number(value.toFixed(digits))
    })
  const [first] = read(since, 1, 0)
  const [up, known] = [read(at.daysUp, overviewParts.days, 6), read(at.daysKnown, overviewParts.days, 6)]
  return {
    ...{ from, to, up: read(at.up, overviewParts.up, 6), players: read(at.players, overviewParts.players, 3) },
    since: typeof first === 'number' ? Math.max(from, from + first) : null,
    days: up.map((value, index) => ({
      date: dateOf(today - overviewParts.days + 1 + index),
      up: value,
      known: known[index] ?? 0,
    })),
  }
}

/** `2026-11-21`. @param day since 1970 */
export const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)
