import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { isRecord } from '../../util/is-record.ts'

/** Format of the entries of a database, in a snapshot and as served. */
export interface SnapshotFormat<Entry> {
  /** Schema of an entry as served. */
  readonly schema: TSchema
  /**
   * Converts an element of the file to an entry, or returns the reason why it is rejected.
   * @param today days since 1970-01-01; only for sample data
   */
  read(element: unknown, today?: number): Entry | string
}

/**
 * Creates a format from the schema of its entries.
 * @param normalise converts an object of the file to an entry, which is then checked against the schema
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
      const [, [first]] = validator.Errors(entry)
      return first === undefined ? 'is not valid' : `${first.instancePath.slice(1) || 'the entry'} ${first.message}`
    },
  }
}

/** An array without its nulls; a missing array becomes an empty one. */
export const listOf = (value: unknown): unknown =>
  Array.isArray(value) ? (value.includes(null) ? value.filter((item) => item !== null) : value) : (value ?? [])
