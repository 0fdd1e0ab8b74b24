import { type FieldName, fieldNames } from '../game/fields.ts'
import { isRecord } from '../game/protocol/is-record.ts'
import type { KnownField, KnownFields, ServerSnapshot, SourceState } from '../game/snapshot.ts'
import { sources } from '../game/sources/index.ts'
import type { SourceName } from '../game/sources/source.ts'
import type { IconStore } from './icon-store.ts'
import { schemaVersion } from './keys.ts'

/**
 * Encodes snapshots as text. Monotonic times are encoded as ages, because each process has its own clock; the icon, by far
 * the largest value and rarely changed, as its hash.
 */
export interface SnapshotCodec {
  /** @param now monotonic milliseconds */
  encode(snapshot: ServerSnapshot, now: number): string
  /**
   * Reuses the unchanged parts of the newest snapshot of the server, because new objects that stay in memory make garbage
   * collections longer.
   * @param now monotonic milliseconds at which the text was encoded, on the clock of this process
   * @param find returns the newest snapshot of a server
   * @throws RangeError if it is not a snapshot of this version
   */
  decode(text: string, now: number, find?: (server: string) => ServerSnapshot | undefined): DecodedSnapshot
}

export interface DecodedSnapshot {
  readonly snapshot: ServerSnapshot
  /** An icon that is not in the store: the snapshot lacks it. */
  readonly missingIcon?: MissingIcon
}

export interface MissingIcon {
  readonly hash: string
  readonly source: SourceName
}

type WireField = readonly [value: unknown, source: SourceName]
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Maximum number of values of each field that servers share. */
const maxPooled = 64

const knownFields: ReadonlySet<string> = new Set(fieldNames)
const sourceNames: ReadonlySet<string> = new Set(sources.map(({ name }) => name))

/** Milliseconds to three decimals. */
const round = (milliseconds: number): number => Math.round(milliseconds * 1_000) / 1_000

const isWireField = (value: unknown): value is WireField =>
  Array.isArray(value) && value[0] !== null && sourceNames.has(String(value[1]))

/** Whether two values of fields are equal. Icons are compared by identity, because the store has each of them once. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Buffer.isBuffer(a)) return false
  const keys = Object.keys(a)
  if (Array.isArray(a) !== Array.isArray(b) || keys.length !== Object.keys(b).length) return false
  return keys.every((key) => isSameValue((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]))
}

/**
 * Returns a function that creates a field, or returns an equal one: that of the earlier snapshot, or of another server, because
 * most servers have the same edition, version, port and so on (`npm run bench -- replica`).
 */
function createFieldPool() {
  const pools = new Map<string, Map<unknown, KnownField<unknown>>>()
  return (name: FieldName, value: unknown, source: SourceName, before: KnownField<unknown> | undefined): KnownField<unknown> => {
    if (before !== undefined && before.source === source && isSameValue(before.value, value)) return before
    if (typeof value === 'object') return Object.freeze({ value, source })
    const pool = pools.get(name) ?? new Map<unknown, KnownField<unknown>>()
    const pooled = pool.get(value)
    if (pooled?.source === source) return pooled
    const field = Object.freeze({ value, source })
    if (pool.size < maxPooled) pools.set(name, pool.set(value, field))
    return field
  }
}

/** Returns the states with the strings of the earlier ones where they are equal. */
const reuseTargets = (states: readonly SourceState[], before: readonly SourceState[] = []): readonly SourceState[] =>
  states.map((state, index) => {
    const target = before[index]?.target
    return target === state.target ? { ...state, target } : state
  })

/** Returns the snapshot with an icon that it lacked. */
export const withIcon = (snapshot: ServerSnapshot, { source }: MissingIcon, value: Buffer): ServerSnapshot =>
  Object.freeze({ ...snapshot, fields: Object.freeze({ ...snapshot.fields, favicon: Object.freeze({ value, source }) }) })

export function createSnapshotCodec(icons: Pick<IconStore, 'hashOf' | 'get'>): SnapshotCodec {
  const fieldOf = createFieldPool()

  function encodeField(name: string, { value, source }: KnownField<unknown>, now: number): WireField {
    if (name === 'favicon') return [icons.hashOf(value as Buffer), source]
    if (name !== 'tickCount') return [value, source]
    const { ticks, at } = value as NonNullable<KnownFields['tickCount']>['value']
    return [{ ticks, age: round(now - at) }, source]
  }

  function decodeValue(name: string, value: unknown, now: number): unknown {
    if (name === 'favicon') return icons.get(String(value))
    if (name !== 'tickCount') return value
    const { ticks, age } = value as { readonly ticks: number; readonly age: number }
    return { ticks, at: now - age }
  }

  return {
    encode(snapshot, now) {
      const { at, fields, lastContact, knownUntil, ...rest } = snapshot
      const wireFields: Record<string, WireField> = {}
      for (const name in fields) {
        const field = fields[name as FieldName]
        if (field !== undefined) wireFields[name] = encodeField(name, field, now)
      }
      return JSON.stringify({
        version: schemaVersion,
        ...rest,
        age: round(now - at),
        fields: wireFields,
        ...(knownUntil !== undefined && { knownForMs: round(knownUntil - now) }),
        ...(lastContact && { lastContact: [round(now - lastContact.at), round(lastContact.wall)] }),
      })
    },
    decode(text, now, find) {
      const wire: unknown = JSON.parse(text)
      if (!isRecord(wire) || wire.version !== schemaVersion) throw new RangeError('a snapshot of another version')
      const { server, age, sources: states, polls, fields: wireFields, lastContact, knownForMs } = wire
      const { demo, joins, leaves, up, isStale, mainThread, pollDuration, lastPollAt } = wire as Partial<ServerSnapshot>
      const isComplete = typeof server === 'string' && Number.isFinite(age) && Array.isArray(states) && isRecord(polls)
      if (!isComplete || !isRecord(wireFields)) throw new RangeError('an incomplete snapshot')
      const before = find?.(server)
      const fields: { [K in FieldName]?: KnownField<unknown> } = {}
      let missingIcon: MissingIcon | undefined
      for (const name in wireFields) {
        const field = wireFields[name]
        // A later version of the service may send more.
        if (!knownFields.has(name) || !isWireField(field)) continue
        const [value, source] = field
        const decoded = decodeValue(name, value, now)
        if (decoded === undefined) missingIcon = { hash: String(value), source }
        else fields[name as FieldName] = fieldOf(name as FieldName, decoded, source, before?.fields[name as FieldName])
      }
      const snapshot = {
        server: before?.server ?? server,
        at: now - Number(age),
        fields: Object.freeze(fields),
        sources: reuseTargets(states, before?.sources),
        polls,
      } as Mutable<ServerSnapshot>
      // In the order of the snapshots of polls, so that both have the same shape in memory.
      if (demo !== undefined) snapshot.demo = demo
      if (joins !== undefined) snapshot.joins = joins
      if (leaves !== undefined) snapshot.leaves = leaves
      if (up !== undefined) snapshot.up = up
      if (typeof knownForMs === 'number') snapshot.knownUntil = now + knownForMs
      if (isStale) snapshot.isStale = true
      if (mainThread !== undefined) snapshot.mainThread = mainThread
      if (Array.isArray(lastContact)) {
        snapshot.lastContact = { at: now - Number(lastContact[0]), wall: Number(lastContact[1]) }
      }
      if (pollDuration !== undefined) snapshot.pollDuration = pollDuration
      if (lastPollAt !== undefined) snapshot.lastPollAt = lastPollAt
      Object.freeze(snapshot)
      return missingIcon === undefined ? { snapshot } : { snapshot, missingIcon }
    },
  }
}
