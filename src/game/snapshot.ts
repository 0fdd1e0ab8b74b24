import type { SourceErrorCode } from './errors.ts'
import { type FieldName, type Fields, fieldNames, type PlayerList } from './fields.ts'
import { sources } from './sources/index.ts'
import type { Reading, RestingCommand, SourceDescriptor, SourceName } from './sources/source.ts'

export interface KnownField<T> {
  readonly value: T
  readonly source: SourceName
  /** Monotonic milliseconds at which it was read. */
  readonly at: number
}

export type KnownFields = { readonly [K in FieldName]?: KnownField<Fields[K]> }

/** How one source did in its last poll. */
export interface SourceState {
  readonly source: SourceName
  readonly target: string
  /** `pending` until its first poll has ended; `partial`: only a part could be read. */
  readonly state: 'pending' | 'ok' | 'partial' | 'failed'
  /** Seconds its last poll took. */
  readonly duration?: number
  readonly error?: { readonly code: SourceErrorCode; readonly message: string }
  /** Its newest failure, kept when it is ok again; `at` is Unix milliseconds. */
  readonly lastError?: { readonly code: SourceErrorCode; readonly message: string; readonly at: number }
  /** Unix milliseconds of its last success. */
  readonly lastSuccess?: number
  /** Commands that are not sent at the moment, because the server did not answer them; `until` is Unix milliseconds. */
  readonly resting?: readonly RestingCommand[]
}

/** The thread of the server that computes the ticks. */
export interface MainThread {
  /** False: it does not answer, although the server accepts connections. */
  readonly responsive: boolean
  /** Seconds from the last request to its answer; of one that is not answered: so far. */
  readonly delay: number
}

/** What is known of one server at one moment. It never changes, so that what is made from it can be cached. */
export interface ServerSnapshot {
  readonly server: string
  /** It is of the built-in demo server. */
  readonly demo?: true
  /** Monotonic milliseconds at which it was made. */
  readonly at: number
  readonly fields: KnownFields
  readonly sources: readonly SourceState[]
  /** Whether the last poll, or an event since, reached the server over the network; undefined while that is unknown. */
  readonly up?: boolean
  /** Monotonic and Unix milliseconds of the last contact (poll or event). */
  readonly lastContact?: { readonly at: number; readonly wall: number }
  /** Absent while the server is down, and where no source knows. */
  readonly mainThread?: MainThread
  /** Unix milliseconds at which the last poll ended, whatever its outcome. */
  readonly lastPollAt?: number
  /** Seconds the whole last poll took. */
  readonly pollDuration?: number
  /** Polls since the start by outcome: `ok` or the error that kept the server from being reached. */
  readonly polls: Readonly<Partial<Record<'ok' | SourceErrorCode, number>>>
  /** Counted since the start; absent until a source that reports them was read. */
  readonly joins?: number
  readonly leaves?: number
}

const descriptors: readonly SourceDescriptor[] = sources

/** The sources that give a field, by rank. */
function ranked(field: FieldName): readonly SourceName[] {
  const giving = descriptors.flatMap(({ name, fields: { [field]: rank } }) => (rank === undefined ? [] : [{ name, rank }]))
  return giving.sort((a, b) => a.rank - b.rank).map(({ name }) => name as SourceName)
}

/**
 * For each field the sources that can give it, best first: the order in which two of them disagree, and what `/api/v1/sources`
 * names as the ways to know it. A field that a source gives without saying so in its descriptor is ignored.
 */
export const precedence = Object.freeze(Object.fromEntries(fieldNames.map((field) => [field, ranked(field)]))) as {
  readonly [K in FieldName]: readonly SourceName[]
}

const fields = Object.entries(precedence) as readonly (readonly [FieldName, readonly SourceName[]])[]

const none: ReadonlySet<SourceName> = new Set()

/** @returns monotonic milliseconds at which a field of the reading was read */
export const fieldReadAt = (reading: Reading, field: FieldName): number => reading.readAt?.[field] ?? reading.at

/**
 * Each field from the best source that gave it: sources whose last poll succeeded come first, then precedence decides. Of two
 * readings of one source the later in the list wins.
 * @param readings none of them stale
 * @param failing sources whose last poll failed
 */
export function merge(readings: readonly Reading[], failing: ReadonlySet<SourceName> = none): KnownFields {
  const known: { [K in FieldName]?: KnownField<unknown> } = {}
  for (const [name, sources] of fields) {
    const field = pick(name, sources, readings, failing)
    if (field !== undefined) known[name] = field
  }
  const { players } = known as KnownFields
  if (players !== undefined) known.players = Object.freeze({ ...players, value: withIds(players.value, readings) })
  return Object.freeze(known) as KnownFields
}

/** The list comes from one source, the ids of some of its players perhaps from another, as from the status beside the query. */
function withIds(list: PlayerList, readings: readonly Reading[]): PlayerList {
  if (list.players.every(({ id }) => id !== undefined)) return list
  const all = readings.flatMap(({ fields }) => fields.players?.players ?? [])
  const known = new Map(all.flatMap((player) => (player.id === undefined ? [] : [[player.name, player]])))
  return { ...list, players: list.players.map((player) => (player.id === undefined ? known.get(player.name) : player) ?? player) }
}

function pick(
  name: FieldName,
  sources: readonly SourceName[],
  readings: readonly Reading[],
  failing: ReadonlySet<SourceName>,
): KnownField<unknown> | undefined {
  let ofFailing: KnownField<unknown> | undefined
  for (const source of sources) {
    const isFailing = failing.has(source)
    if (isFailing && ofFailing !== undefined) continue
    for (let index = readings.length - 1; index >= 0; index--) {
      const reading = readings[index]
      if (reading?.source !== source) continue
      const value = reading.fields[name]
      if (value === undefined) continue
      const field = Object.freeze({ value, source, at: fieldReadAt(reading, name) })
      if (!isFailing) return field
      ofFailing ??= field
    }
  }
  return ofFailing
}

/** The upgrade of the world that keeps the server from being up; undefined where there is none. */
export function ongoingWorldUpgrade({ up, fields }: Pick<ServerSnapshot, 'up' | 'fields'>): Fields['worldUpgrade'] | undefined {
  const upgrade = fields.worldUpgrade?.value
  return up === true || upgrade?.state === 'finished' ? undefined : upgrade
}

/** True: a proxy answers for the server, which is stopped; false: the server itself answers; undefined: unknown. */
export function isAsleep({ sources, fields }: Pick<ServerSnapshot, 'sources' | 'fields'>): boolean | undefined {
  const status = sources.find(({ source }) => source === 'status')
  if (status?.error?.code === 'asleep') return true
  return status?.state === 'ok' ? fields.asleep?.value : undefined
}
