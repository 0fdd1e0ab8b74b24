import { isNumber } from '../game/check.ts'
import { type FieldName, fieldDescriptions } from '../game/fields.ts'
import type { KnownField, KnownFields, ServerSnapshot, SourceState } from '../game/snapshot.ts'
import type { SourceName } from '../game/sources/names.ts'
import { isRecord } from '../util/is-record.ts'
import { parseJson } from '../util/json.ts'
import type { IconStore } from './icon-store.ts'
import { schemaVersion } from './keys.ts'
import { isSourceName, isSourceState, memberChecks, readPolls } from './snapshot-checks.ts'

type WireField = readonly [value: unknown, source: SourceName]

/** Maximum number of values of each field that servers share. */
const maxPooled = 64

const checks: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  Object.entries(fieldDescriptions).map(([name, { check }]) => [name, check]),
)
const memberEntries = Object.entries(memberChecks)
/** SHA-1 in base64url. */
const isIconHash = (value: unknown): value is string => typeof value === 'string' && /^[\w-]{27}$/.test(value)

/** Milliseconds to three decimals. */
const round = (milliseconds: number): number => Math.round(milliseconds * 1_000) / 1_000

const isWireField = (value: unknown): value is WireField => Array.isArray(value) && isSourceName(value[1])

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

/** Returns the states with the strings of the earlier ones where they are equal; a copy also takes less memory than what JSON.parse returns. */
const reuseTargets = (states: readonly SourceState[], before: readonly SourceState[] = []): readonly SourceState[] =>
  states.map((state, index) => {
    const target = before[index]?.target
    return target === state.target ? { ...state, target } : state
  })

/**
 * Encodes snapshots as text. Monotonic times are encoded as ages, because each process has its own clock; the icon, by far
 * the largest value and rarely changed, as its hash.
 * @param onDropped called for each part of a snapshot that is left out because it is not valid
 */
export function createSnapshotCodec(
  icons: Pick<IconStore, 'hashOf' | 'get'>,
  onDropped: (server: string, part: string) => void = () => {},
) {
  const fieldOf = createFieldPool()

  function encodeField(name: string, { value, source }: KnownField<unknown>, now: number): WireField {
    if (name === 'favicon') return [icons.hashOf(value as Buffer), source]
    if (name !== 'tickCount') return [value, source]
    const { ticks, at } = value as NonNullable<KnownFields['tickCount']>['value']
    return [{ ticks, age: round(now - at) }, source]
  }

  function decodeValue(name: string, value: unknown, now: number): unknown {
    if (name === 'favicon') return isIconHash(value) ? icons.get(value) : null
    if (name !== 'tickCount' || !isRecord(value)) return value
    return { ticks: value.ticks, at: isNumber(value.age) ? now - value.age : undefined }
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
     * Reuses the unchanged parts of the newest snapshot of the server, because new objects that stay in memory make garbage
     * collections longer.
     * @param now monotonic milliseconds at which the text was encoded, on the clock of this process
     * @param before the newest snapshot of the server
     * @throws RangeError if it is not a snapshot of this version, or one of another server
     */
    decode(text: string, now: number, before?: ServerSnapshot): ServerSnapshot {
      const wire = parseJson(text)
      if (!isRecord(wire) || wire.version !== schemaVersion) throw new RangeError('a snapshot of another version')
      const { server, age, sources: states, polls, fields: wireFields, lastContact: contact, knownForMs } = wire
      const isComplete = typeof server === 'string' && isNumber(age) && Array.isArray(states) && isRecord(polls)
      if (!isComplete || !isRecord(wireFields)) throw new RangeError('an incomplete snapshot')
      if (before !== undefined && before.server !== server) throw new RangeError('a snapshot of another server')
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
        const known = before?.fields[name]
        // What is equal to a value that was checked needs no check.
        if (isWireField(field) && (isSameValue(known?.value, decoded) || check(decoded))) {
          fields[name] = fieldOf(name, decoded, field[1], known)
        } else dropped(`fields.${name}`)
      }
      const validStates = states.filter(isSourceState)
      const unique = validStates.filter(({ source }, index) => validStates.findIndex((one) => one.source === source) === index)
      if (unique.length < states.length) dropped('sources')
      const times: Readonly<Record<string, unknown>> = {
        knownUntil: isNumber(knownForMs) ? now + knownForMs : knownForMs,
        lastContact:
          contact && (Array.isArray(contact) && isNumber(contact[0]) ? { at: now - contact[0], wall: contact[1] } : null),
      }
      const snapshot: Record<string, unknown> = {
        server: before?.server ?? server,
        at: now - age,
        fields: Object.freeze(fields),
        sources: reuseTargets(unique, before?.sources),
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
