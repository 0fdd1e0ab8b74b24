export interface SrvRecord {
  readonly name: string
  readonly port: number
  /** Lower values are tried first. */
  readonly priority: number
  /** Relative weight among records of the same priority. */
  readonly weight: number
}

/** An answer may contain thousands of records; no real service has more than these. */
const maxRecords = 64

/**
 * Sorts the targets in the order in which to try them: by priority, then by weighted random selection (RFC 2782).
 * The target `.`, which means that the service is not available, is removed.
 * @param random 0 <= n < 1
 */
export function orderSrv(records: readonly SrvRecord[], random: () => number): readonly SrvRecord[] {
  // Within a priority, records of weight 0 come first, so that they have a small chance of being selected.
  const rest = records
    .filter(({ name, port }) => name !== '' && name !== '.' && port > 0 && port <= 65535)
    .sort((a, b) => a.priority - b.priority || a.weight - b.weight)
    .slice(0, maxRecords)
  const ordered: SrvRecord[] = []
  while (rest.length > 0) {
    const group = rest.filter(({ priority }) => priority === rest[0]?.priority)
    const sums = group.map((_, at) => group.slice(0, at + 1).reduce((sum, { weight }) => sum + weight, 0))
    const drawn = Math.floor(random() * ((sums.at(-1) ?? 0) + 1))
    const index = sums.findIndex((sum) => sum >= drawn)
    ordered.push(...rest.splice(Math.max(0, index), 1))
  }
  return ordered
}
