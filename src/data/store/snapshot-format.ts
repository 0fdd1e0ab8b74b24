import { isRecord } from '../../util/is-record.ts'
import { problemOf, type Static, type TSchema } from '../../util/schema.ts'

/** Format of the entries of a database, in a snapshot and as served. */
export interface SnapshotFormat<Entry> {
  /** Schema of an entry as served. */
  readonly schema: TSchema
  /**
   * Converts an element of the file to an entry, or returns the reason why it is rejected.
   * @param today days since 1970-01-01; only for sample data
   * @param isTrusted true for the sample of the package, which a test checks: the validator is then not loaded
   */
  read(element: unknown, today?: number, isTrusted?: boolean): Entry | string
}

/**
 * Creates a format from the schema of its entries.
 * @param normalise converts an object of the file to an entry, which is then checked against the schema
 */
export function createSnapshotFormat<S extends TSchema>(
  schema: S,
  normalise: (element: Readonly<Record<string, unknown>>, today: number | undefined) => unknown,
): SnapshotFormat<Static<S>> {
  return {
    schema,
    read(element, today, isTrusted = false) {
      if (!isRecord(element)) return 'is not an object'
      const entry = normalise(element, today)
      return (isTrusted ? undefined : problemOf(schema, entry)) ?? (entry as Static<S>)
    },
  }
}

/** An array without its nulls; a missing array becomes an empty one. */
export const listOf = (value: unknown): unknown =>
  Array.isArray(value) ? (value.includes(null) ? value.filter((item) => item !== null) : value) : (value ?? [])
