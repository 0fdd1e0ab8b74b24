import { type FieldName, fieldNames, type PlayerList } from './fields.ts'
import type { KnownField, KnownFields } from './snapshot.ts'
import { sources } from './sources/index.ts'
import type { SourceName } from './sources/names.ts'
import type { Reading, SourceDescriptor } from './sources/source.ts'

/**
 * Every source. Not loaded by snapshot.ts, which `tickwarden status` needs too: it reads one source, and takes 1.1 times the CPU with
 * all of them (`npm run bench -- commands`).
 */
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
 * @param before the players of the earlier snapshot
 */
export function merge(
  readings: readonly Reading[],
  failing: ReadonlySet<SourceName> = none,
  decide?: (fields: KnownFields) => Decision,
  before?: PlayerList,
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
  const { players, playersOnline } = known as KnownFields
  if (players !== undefined) {
    const { value, source } = longestPart(players, readings, failing, playersOnline?.value)
    known.players = Object.freeze({ value: withIds(value, readings, before), source })
  }
  return Object.freeze(count > maxAdded ? { ...known } : known) as KnownFields
}

/**
 * Of lists that lack players, takes the longest one: a query may hide names that are in the status. A complete list is taken as it is.
 * Of one source, the later reading counts: players may have left since the earlier one. A list of more players than are online is not used
 * instead: it is that of another moment, or of the proxy before the server.
 */
function longestPart(
  taken: KnownField<PlayerList>,
  readings: readonly Reading[],
  failing: ReadonlySet<SourceName>,
  online = Number.POSITIVE_INFINITY,
): KnownField<PlayerList> {
  if (taken.value.complete) return taken
  let longest = taken
  for (const { source, fields } of readings) {
    const value = fields.players
    const isOther = source !== taken.source && !failing.has(source) && ranks.get(source)?.players !== undefined
    if (value === undefined || value.complete || !isOther || value.players.length > online) continue
    if (value.players.length > longest.value.players.length) longest = { value, source }
  }
  return longest
}

/**
 * Adds ids from other sources to players without one, for example from the status to the players of the query. Those who have stayed keep
 * theirs: the status contains another sample each time. If the list has several players of one name, it is unknown which of them has the id.
 */
function withIds(list: PlayerList, readings: readonly Reading[], before: PlayerList | undefined): PlayerList {
  if (list.players.every(({ id }) => id !== undefined)) return list
  const all = [before, ...readings.map(({ fields }) => fields.players)].flatMap((each) => each?.players ?? [])
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
