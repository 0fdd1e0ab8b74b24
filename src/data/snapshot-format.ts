import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { isRecord } from '../game/protocol/is-record.ts'

/** What the entries of a database look like in a snapshot, and as they are served. */
export interface SnapshotFormat<Entry> {
  /** Of an entry as it is served. */
  readonly schema: TSchema
  /**
   * The entry that an element of the file holds, or the reason why it is rejected.
   * @param today days since 1970-01-01, given for sample data only
   */
  read(element: unknown, today?: number): Entry | string
}

/**
 * A format from the schema of its entries.
 * @param normalise makes the entry that is checked against the schema from an object of the file
 */
export function createSnapshotFormat<S extends TSchema>(
  schema: S,
  normalise: (element: Readonly<Record<string, unknown>>, today: number | undefined) => unknown,
): SnapshotFormat<Static<S>> {
  const validator = Compile(schema)
  return {
    schema,
    read(element, today) {
      if (!isRecord(element)) return 'is not an object'
      const entry = normalise(element, today)
      if (validator.Check(entry)) return entry as Static<S>
      const [first] = validator.Errors(entry)
      return first === undefined ? 'does not fit' : `${first.instancePath.slice(1) || 'the entry'} ${first.message}`
    },
  }
}

/** A list without its nulls; a missing list is an empty one. */
export const listOf = (value: unknown): unknown =>
  Array.isArray(value) ? (value.includes(null) ? value.filter((item) => item !== null) : value) : (value ?? [])
