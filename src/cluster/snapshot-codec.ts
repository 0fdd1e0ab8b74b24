import { isNumber } from '../game/check.ts'
import { type FieldName, fieldDescriptions } from '../game/fields.ts'
import type { KnownField, KnownFields, ServerSnapshot } from '../game/snapshot.ts'
import type { SourceName } from '../game/sources/names.ts'
import { isRecord } from '../util/is-record.ts'
import { parseJson } from '../util/json.ts'
import type { IconStore } from './icon-store.ts'
import { schemaVersion } from './keys.ts'
import { isSourceName, isSourceState, memberChecks, readPolls } from './snapshot-checks.ts'

type WireField = readonly [value: unknown, source: SourceName]

const checks: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  Object.entries(fieldDescriptions).map(([name, { check }]) => [name, check]),
)
const memberEntries = Object.entries(memberChecks)
/** SHA-1 in base64url. */
const isIconHash = (value: unknown): value is string => typeof value === 'string' && /^[\w-]{27}$/.test(value)

/** Milliseconds to three decimals. */
const round = (milliseconds: number): number => Math.round(milliseconds * 1_000) / 1_000

/** Never in the future: no later value would replace such a value, nor would it become stale. */
const before = (now: number, age: number): number => now - Math.max(0, age)

const isWireField = (value: unknown): value is WireField => Array.isArray(value) && isSourceName(value[1])

/**
 * Encodes snapshots as text. Monotonic times are encoded as ages, because each process has its own clock; the icon, by far
 * the largest value and rarely changed, as its hash.
 * @param onDropped called for each part of a snapshot that is left out because it is not valid
 */
export function createSnapshotCodec(
  icons: Pick<IconStore, 'hashOf' | 'get'>,
  onDropped: (server: string, part: string) => void = () => {},
) {
  function encodeField(name: string, { value, source }: KnownField<unknown>, now: number): WireField {
    if (name === 'favicon') return [icons.hashOf(value as Buffer), source]
    if (name !== 'tickCount') return [value, source]
    const { ticks, at } = value as NonNullable<KnownFields['tickCount']>['value']
    return [{ ticks, age: round(now - at) }, source]
  }

  function decodeValue(name: string, value: unknown, now: number): unknown {
    if (name === 'favicon') return isIconHash(value) ? icons.get(value) : null
    if (name !== 'tickCount' || !isRecord(value)) return value
    return { ticks: value.ticks, at: isNumber(value.age) ? before(now, value.age) : undefined }
  }

  return {
    /** @param now monotonic milliseconds */
    encode(snapshot: ServerSnapshot, now: number): string {
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
    /**
     * @param now monotonic milliseconds at which the text was encoded, on the clock of this process
     * @param expected the name of the server
     * @throws RangeError if it is not a snapshot of this version, or one of another server
     */
    decode(text: string, now: number, expected?: string): ServerSnapshot {
      const wire = parseJson(text)
      if (!isRecord(wire) || wire.version !== schemaVersion) throw new RangeError('a snapshot of another version')
      const { server, age, sources: states, polls, fields: wireFields, lastContact: contact, knownForMs } = wire
      const isComplete = typeof server === 'string' && isNumber(age) && Array.isArray(states) && isRecord(polls)
      if (!isComplete || !isRecord(wireFields)) throw new RangeError('an incomplete snapshot')
      if (expected !== undefined && expected !== server) throw new RangeError('a snapshot of another server')
      const dropped = (part: string) => onDropped(server, part)
      const fields: { [K in FieldName]?: KnownField<unknown> } = {}
      for (const key in wireFields) {
        const check = checks.get(key)
        const field = wireFields[key]
        // A later version of the service may send more.
        if (check === undefined || (Array.isArray(field) && typeof field[1] === 'string' && !isSourceName(field[1]))) continue
        const name = key as FieldName
        const decoded = isWireField(field) ? decodeValue(name, field[0], now) : null
        // An icon that is not in the store.
        if (name === 'favicon' && decoded === undefined) continue
        if (isWireField(field) && check(decoded)) fields[name] = Object.freeze({ value: decoded, source: field[1] })
        else dropped(`fields.${name}`)
      }
      const validStates = states.filter(isSourceState)
      const unique = validStates.filter(({ source }, index) => validStates.findIndex((one) => one.source === source) === index)
      if (unique.length < states.length) dropped('sources')
      const times: Readonly<Record<string, unknown>> = {
        knownUntil: isNumber(knownForMs) ? now + knownForMs : knownForMs,
        lastContact:
          contact && (Array.isArray(contact) && isNumber(contact[0]) ? { at: before(now, contact[0]), wall: contact[1] } : null),
      }
      const snapshot: Record<string, unknown> = {
        server,
        at: before(now, age),
        fields: Object.freeze(fields),
        sources: unique,
        polls: readPolls(polls, dropped),
      }
      for (const [name, check] of memberEntries) {
        const value = name in times ? times[name] : wire[name]
        if (value === undefined) continue
        if (check(value)) snapshot[name] = value
        else dropped(name)
      }
      return Object.freeze(snapshot) as unknown as ServerSnapshot
    },
  }
}
