import type { Connection } from '../store/connection.ts'
import { dayMs, type Level, levels } from './levels.ts'

/** How the last 24 hours and 90 days of a server are divided. */
export const overviewParts = { up: 48, players: 72, days: 90 } as const

/** The last 24 hours and 90 days of one server, oldest first; null where unknown. */
export interface ServerOverview {
  /** Unix milliseconds of the 24 hours; `to` is the end of the ten minutes that are not over yet. */
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
export interface PlayerCounts {
  readonly from: number
  readonly step: number
  /** On all servers together. */
  readonly total: readonly (number | null)[]
  readonly servers: readonly { readonly server: string; readonly players: readonly (number | null)[] }[]
}

/**
 * What was recorded of all servers in one bucket, by their number in the database: for how long their state and their players were known
 * and for how long they were up, milliseconds, and the players times the milliseconds.
 */
const ofServer = { known: 0, up: 1, playersKnown: 2, players: 3, size: 4 } as const
type Bucket = Float32Array

/** A server, and its number in the database. */
export type Numbered = readonly [name: string, id: number]

/** Buckets that are read again each time, because they may still change. */
const maxOpen = 2
const [, , tenMinutes, eachDay] = levels

/** The last 24 hours and 90 days of all servers, in memory: what does not change is read once. */
export class Overview {
  readonly #connection: Connection
  #recent: ReadonlyMap<number, Bucket> = new Map()
  #days: ReadonlyMap<number, Bucket> = new Map()
  /** Starts of buckets that have been written since they were read. */
  readonly #changed = new Set<number>()
  #now = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Reads what may have changed. @param now Unix milliseconds */
  refresh(now: number): void {
    this.#now = now
    const servers = Number(this.#connection.first('SELECT max(id) FROM servers')?.[0])
    this.#recent = this.#refresh(this.#recent, tenMinutes, dayMs / tenMinutes.step, servers)
    this.#days = this.#refresh(this.#days, eachDay, overviewParts.days, servers)
    this.#changed.clear()
  }

  /** Values of this time are written: late, if the database was locked before. What has not been read needs no note. */
  change(time: number): void {
    for (const [{ step }, read] of [[tenMinutes, this.#recent] as const, [eachDay, this.#days] as const]) {
      const start = Math.floor(time / step) * step
      if (read.has(start)) this.#changed.add(start)
    }
  }

  /** As of the last call of `refresh`. */
  of(servers: readonly Numbered[]): ReadonlyMap<string, ServerOverview> {
    return new Map(servers.map(([name, id]) => [name, this.#of(id)]))
  }

  #of(server: number): ServerOverview {
    const first = server * ofServer.size
    const [recent, days, to] = [[...this.#recent.values()], [...this.#days.values()], this.#to]
    const ratio = (buckets: readonly Bucket[], parts: number) =>
      join(buckets, parts, first + ofServer.known, first + ofServer.up, 6)
    const upOfDays = ratio(days, overviewParts.days)
    return {
      ...{ from: to - dayMs, to, up: ratio(recent, overviewParts.up), since: this.#knownFrom(server) },
      players: join(recent, overviewParts.players, first + ofServer.playersKnown, first + ofServer.players, 3),
      days: Array.from(this.#days, ([time, bucket], index) => ({
        ...{ date: dateOf(time / dayMs), up: upOfDays[index] ?? null },
        known: Number(((bucket[first + ofServer.known] ?? 0) / dayMs).toFixed(6)),
      })),
    }
  }

  /**
   * As of the last call of `refresh`.
   * @param ids of the servers that are counted
   * @param maxServers how many of them have values of their own: those with the most players, in their order
   */
  playerCounts(ids: readonly number[], maxServers: number): PlayerCounts {
    const buckets = [...this.#recent.values()]
    const sums = new Float64Array(ids.length)
    const total = buckets.map((bucket) => {
      let [sum, isKnown] = [0, false]
      for (const [index, id] of ids.entries()) {
        const count = playersIn(bucket, id)
        if (Number.isNaN(count)) continue
        isKnown = true
        sum += count
        sums[index] = (sums[index] ?? 0) + count
      }
      return isKnown ? round(sum) : null
    })
    const largest = [...ids.keys()].sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0)).slice(0, maxServers)
    const servers = largest
      .sort((a, b) => a - b)
      .map((index) => {
        const id = ids[index] ?? -1
        const counts = buckets.map((bucket) => playersIn(bucket, id))
        return {
          server: String(this.#connection.first('SELECT name FROM servers WHERE id = ?', id)?.[0]),
          players: counts.map((count) => (Number.isNaN(count) ? null : round(count))),
        }
      })
    return { from: this.#to - dayMs, step: tenMinutes.step, total, servers }
  }

  /** The end of the ten minutes that are not over yet. */
  get #to(): number {
    return (Math.floor(this.#now / tenMinutes.step) + 1) * tenMinutes.step
  }

  /** When the state was first known in the last 24 hours: to the end of the first ten minutes with any values. */
  #knownFrom(server: number): number | null {
    for (const [time, bucket] of this.#recent) {
      const known = bucket[server * ofServer.size + ofServer.known] ?? 0
      if (known > 0) return Math.max(this.#to - dayMs, Math.min(time + tenMinutes.step, this.#now) - known)
    }
    return null
  }

  /** The last `count` buckets of a level, oldest first. */
  #refresh(before: ReadonlyMap<number, Bucket>, level: Level, count: number, servers: number): ReadonlyMap<number, Bucket> {
    const end = (Math.floor(this.#now / level.step) + 1) * level.step
    const buckets = new Map<number, Bucket>()
    for (let index = count; index > 0; index--) {
      const time = end - index * level.step
      const known = index > maxOpen && !this.#changed.has(time) ? before.get(time) : undefined
      buckets.set(time, known ?? this.#bucket(level, time, servers))
    }
    return buckets
  }

  #bucket(level: Level, time: number, servers: number): Bucket {
    const bucket = new Float32Array((servers + 1) * ofServer.size)
    const rows = this.#connection.all(
      `SELECT server, known_ms, up_ms, ifnull(players_known_ms, 0), ifnull(players_mean * players_known_ms, 0)
        FROM ${level.table} WHERE time = ? AND known_ms > 0`,
      time,
    ) as readonly (readonly number[])[]
    for (const [server = 0, ...values] of rows) bucket.set(values, server * ofServer.size)
    return bucket
  }
}

/** The mean number of players of a server; NaN where unknown. */
const playersIn = (bucket: Bucket, server: number): number =>
  (bucket[server * ofServer.size + ofServer.players] ?? 0) / (bucket[server * ofServer.size + ofServer.playersKnown] ?? 0)

/** A mean with one decimal. */
const round = (players: number): number => Math.round(players * 10) / 10

/** Means of as many buckets each; null where unknown. @param weightAt position of the weight of a bucket; @param sumAt that of its sum */
function join(buckets: readonly Bucket[], parts: number, weightAt: number, sumAt: number, digits: number): (number | null)[] {
  const count = buckets.length / parts
  return Array.from({ length: parts }, (_, part) => {
    let [weight, sum] = [0, 0]
    for (let index = part * count; index < (part + 1) * count; index++) {
      weight += buckets[index]?.[weightAt] ?? 0
      sum += buckets[index]?.[sumAt] ?? 0
    }
    return weight === 0 ? null : Number((sum / weight).toFixed(digits))
  })
}

/** `2026-11-21`. @param day since 1970 */
export const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)
