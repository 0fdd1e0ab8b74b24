import type { SourceErrorCode } from './errors.ts'
import { type FieldName, type Fields, fieldNames, type PlayerList } from './fields.ts'
import { sources } from './sources/index.ts'
import type { SourceName } from './sources/names.ts'
import type { Reading, RestingCommand, SourceDescriptor } from './sources/source.ts'

export interface KnownField<T> {
  readonly value: T
  readonly source: SourceName
}

export type KnownFields = { readonly [K in FieldName]?: KnownField<Fields[K]> }

/** The result of the last poll of one source. */
export interface SourceState {
  readonly source: SourceName
  readonly target: string
  /** `pending` until the first poll has ended; `partial` if only some of the fields could be read. */
  readonly state: 'pending' | 'ok' | 'partial' | 'failed'
  /** Duration of the last poll in seconds. */
  readonly duration?: number
  readonly error?: { readonly code: SourceErrorCode; readonly message: string }
  /** The last failure, kept after a recovery; `at` is Unix milliseconds. */
  readonly lastError?: { readonly code: SourceErrorCode; readonly message: string; readonly at: number }
  /** Unix milliseconds of the last successful poll. */
  readonly lastSuccess?: number
  /** Commands that are not sent for a while because the server did not answer them; `until` is Unix milliseconds. */
  readonly resting?: readonly RestingCommand[]
}

/** The state of the server's main thread, which runs the ticks. */
export interface MainThread {
  /** False if it does not respond although the server accepts connections. */
  readonly responsive: boolean
  /**
   * Seconds between the last request and its reply; if there is no reply yet, the time waited so far. Absent if no source makes
   * requests of the main thread.
   */
  readonly delay?: number
}

/** The known state of one server at one moment. Immutable, so that anything derived from it can be cached. */
export interface ServerSnapshot {
  readonly server: string
  /** Set for the built-in demo server. */
  readonly demo?: true
  /** Monotonic milliseconds at which it was created. */
  readonly at: number
  readonly fields: KnownFields
  readonly sources: readonly SourceState[]
  /**
   * Whether the last poll, or an event since then, reached the server over the network. Absent while unknown: before the first poll,
   * if no source connects to the server, and once the last contact is stale. Decided by the watcher, so that all readers agree.
   */
  readonly up?: boolean
  /** Monotonic milliseconds at which `up` becomes unknown unless a newer snapshot follows. */
  readonly knownUntil?: number
  /** The last contact is stale, or there was none. */
  readonly isStale?: true
  /** Monotonic and Unix milliseconds of the last contact (poll or event). */
  readonly lastContact?: { readonly at: number; readonly wall: number }
  /** Absent while the server is down or if no source provides it. */
  readonly mainThread?: MainThread
  /** Unix milliseconds at which the last poll ended, whatever its outcome. */
  readonly lastPollAt?: number
  /** Duration of the last poll of all sources in seconds. */
  readonly pollDuration?: number
  /** Number of polls since the start, by outcome: `ok` or the code of the error. */
  readonly polls: Readonly<Partial<Record<'ok' | SourceErrorCode, number>>>
  /** Counted since the start; absent until a source that provides them was read. */
  readonly joins?: number
  readonly leaves?: number
}

/** Why a server that is down could not be reached, as told by the first source that connects to it; undefined if none did. */
export const downError = ({ sources }: Pick<ServerSnapshot, 'sources'>): SourceErrorCode | undefined =>
  sources.find(({ source, error }) => source !== 'directory' && error !== undefined)?.error?.code

const descriptors: readonly SourceDescriptor[] = sources

/** The sources that provide a field, by rank. */
function ranked(field: FieldName): readonly SourceName[] {
  const providers = descriptors.flatMap(({ name, fields: { [field]: rank } }) => (rank === undefined ? [] : [{ name, rank }]))
  return providers.sort((a, b) => a.rank - b.rank).map(({ name }) => name as SourceName)
}

/**
 * The sources that can provide each field, best first. Determines which source wins if two disagree, and is listed by
 * `/api/v1/sources`. A field that is not listed in the descriptor of its source is ignored.
 */
export const precedence = Object.freeze(Object.fromEntries(fieldNames.map((field) => [field, ranked(field)]))) as {
  readonly [K in FieldName]: readonly SourceName[]
}

type Ranks = SourceDescriptor['fields']

/** The fields that each source provides, with its rank among their sources. */
const ranks: ReadonlyMap<string, Ranks> = new Map(descriptors.map(({ name, fields }) => [name, fields]))

const none: ReadonlySet<SourceName> = new Set()

/**
 * Number of keys that can be added to an empty object one by one before V8 turns it into a hash table of 1.6 kB. A copy of that takes
 * 300 bytes (`npm run bench -- fleet --rcon=2000`); a copy of any other object would have a separate hidden class of 400 bytes.
 */
const maxAdded = 19

/** What the watcher adds to the fields of the sources. */
export interface Decision {
  /** Values that it measures. */
  readonly measured?: Pick<Reading, 'source' | 'fields'> | undefined
  /** Fields that are not valid now. */
  readonly invalid: readonly FieldName[]
}

/**
 * Takes each field from the best source that provided it: sources whose last poll succeeded come first, then the precedence
 * decides. If there are two readings of one source, the later one in the list wins.
 * @param readings must not be stale
 * @param failing sources whose last poll failed
 * @param decide called with the fields of the sources
 */
export function merge(
  readings: readonly Reading[],
  failing: ReadonlySet<SourceName> = none,
  decide?: (fields: KnownFields) => Decision,
): KnownFields {
  const known: { [K in FieldName]?: KnownField<unknown> } = {}
  let count = 0
  for (const { source, fields } of readings) {
    const provided = ranks.get(source)
    for (const key in fields) {
      const name = key as FieldName
      const value = fields[name]
      const rank = provided?.[name]
      if (value === undefined || rank === undefined) continue
      const earlier = known[name]
      if (earlier === undefined) count++
      else if (!isBetter(source, rank, earlier.source, name, failing)) continue
      known[name] = Object.freeze({ value, source })
    }
  }
  if (decide !== undefined) {
    const { measured, invalid } = decide(known as KnownFields)
    for (const key in measured?.fields) {
      const name = key as FieldName
      if (known[name] === undefined) count++
      known[name] = Object.freeze({ value: measured.fields[name], source: measured.source })
    }
    for (const name of invalid) delete known[name]
  }
  const { players } = known as KnownFields
  if (players !== undefined) known.players = Object.freeze({ ...players, value: withIds(players.value, readings) })
  return Object.freeze(count > maxAdded ? { ...known } : known) as KnownFields
}

/**
 * Adds ids from other sources to players without one, for example from the status to the players of the query. If the list has several
 * players of one name, it is unknown which of them has the id.
 */
function withIds(list: PlayerList, readings: readonly Reading[]): PlayerList {
  if (list.players.every(({ id }) => id !== undefined)) return list
  const all = readings.flatMap(({ fields }) => fields.players?.players ?? [])
  const known = new Map(all.flatMap((player) => (player.id === undefined ? [] : [[player.name, player]])))
  const names = new Set<string>()
  for (const { name } of list.players) {
    if (names.has(name)) known.delete(name)
    names.add(name)
  }
  return { ...list, players: list.players.map((player) => (player.id === undefined ? known.get(player.name) : player) ?? player) }
}

/** Whether a field of this source replaces that of the source of an earlier reading. */
function isBetter(
  source: SourceName,
  rank: number,
  before: SourceName,
  field: FieldName,
  failing: ReadonlySet<SourceName>,
): boolean {
  if (failing.has(source) !== failing.has(before)) return failing.has(before)
  return rank <= (ranks.get(before)?.[field] ?? Number.POSITIVE_INFINITY)
}

/** The world upgrade because of which the server is not up yet; undefined if there is none. */
export function ongoingWorldUpgrade({ up, fields }: Pick<ServerSnapshot, 'up' | 'fields'>): Fields['worldUpgrade'] | undefined {
  const upgrade = fields.worldUpgrade?.value
  return up === true || upgrade?.state === 'finished' ? undefined : upgrade
}

/** True if a proxy answers for the stopped server, false if the server itself answers, undefined if unknown. */
export function isAsleep({ sources, fields }: Pick<ServerSnapshot, 'sources' | 'fields'>): boolean | undefined {
  const status = sources.find(({ source }) => source === 'status')
  if (status?.error?.code === 'asleep') return true
  return status?.state === 'ok' ? fields.asleep?.value : undefined
}
