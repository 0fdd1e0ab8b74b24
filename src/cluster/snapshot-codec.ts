import { type FieldName, fieldNames } from '../game/fields.ts'
import { isRecord } from '../game/protocol/is-record.ts'
import type { KnownField, KnownFields, ServerSnapshot } from '../game/snapshot.ts'
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
   * @param now monotonic milliseconds at which the text was encoded, on the clock of this process
   * @throws RangeError if it is not a snapshot of this version
   */
  decode(text: string, now: number): DecodedSnapshot
}

export interface DecodedSnapshot {
  readonly snapshot: ServerSnapshot
  /** Hash of an icon that is not in the store: the snapshot lacks it. */
  readonly missingIcon?: string
}

type WireField = readonly [value: unknown, source: SourceName]

const knownFields: ReadonlySet<string> = new Set(fieldNames)
const sourceNames: ReadonlySet<string> = new Set(sources.map(({ name }) => name))

/** Milliseconds to three decimals. */
const round = (milliseconds: number): number => Math.round(milliseconds * 1_000) / 1_000

const isWireField = (value: unknown): value is WireField =>
  Array.isArray(value) && value[0] !== null && sourceNames.has(String(value[1]))

export function createSnapshotCodec(icons: Pick<IconStore, 'hashOf' | 'get'>): SnapshotCodec {
  function encodeField(name: string, { value, source }: KnownField<unknown>, now: number): WireField {
    if (name === 'favicon') return [icons.hashOf(value as Buffer), source]
    if (name !== 'tickCount') return [value, source]
    const { ticks, at } = value as NonNullable<KnownFields['tickCount']>['value']
    return [{ ticks, age: round(now - at) }, source]
  }

  return {
    encode(snapshot, now) {
      const { at, fields, lastContact, ...rest } = snapshot
      const wireFields = Object.entries(fields).map(([name, field]) => [name, encodeField(name, field, now)])
      return JSON.stringify({
        version: schemaVersion,
        ...rest,
        age: round(now - at),
        fields: Object.fromEntries(wireFields),
        ...(lastContact && { lastContact: [round(now - lastContact.at), lastContact.wall] }),
      })
    },
    decode(text, now) {
      const wire: unknown = JSON.parse(text)
      if (!isRecord(wire) || wire.version !== schemaVersion) throw new RangeError('a snapshot of another version')
      const { version, age, fields: wireFields, lastContact, ...rest } = wire
      const { server, sources: states, polls } = rest
      const isComplete = typeof server === 'string' && Number.isFinite(age) && Array.isArray(states) && isRecord(polls)
      if (!isComplete || !isRecord(wireFields)) throw new RangeError('an incomplete snapshot')
      let missingIcon: string | undefined
      const fields: { [K in FieldName]?: KnownField<unknown> } = {}
      for (const [name, field] of Object.entries(wireFields)) {
        // A later version of the service may send more.
        if (!knownFields.has(name) || !isWireField(field)) continue
        const [value, source] = field
        const decoded = decodeValue(name, value)
        if (decoded === undefined) missingIcon = String(value)
        else fields[name as FieldName] = Object.freeze({ value: decoded, source })
      }
      const snapshot = Object.freeze({
        ...rest,
        at: now - Number(age),
        fields: Object.freeze(fields),
        ...(Array.isArray(lastContact) && { lastContact: { at: now - Number(lastContact[0]), wall: Number(lastContact[1]) } }),
      }) as unknown as ServerSnapshot
      return { snapshot, ...(missingIcon !== undefined && { missingIcon }) }

      function decodeValue(name: string, value: unknown): unknown {
        if (name === 'favicon') return icons.get(String(value))
        if (name !== 'tickCount') return value
        const { ticks, age } = value as { readonly ticks: number; readonly age: number }
        return { ticks, at: now - age }
      }
    },
  }
}
