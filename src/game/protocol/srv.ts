export interface SrvRecord {
  readonly name: string
  readonly port: number
  /** Lower goes first. */
  readonly priority: number
  /** Share among those of one priority. */
  readonly weight: number
}

/** An answer may hold thousands; nobody needs more than these. */
const maxRecords = 64

/**
 * The order in which the targets are to be tried: by priority, within one priority drawn by weight (RFC 2782).
 * The target `.` says that there is no such service and is left out.
 * @param random 0 <= n < 1
 */
export function orderSrv(records: readonly SrvRecord[], random: () => number): readonly SrvRecord[] {
  // Of equal priority those of weight 0 come first, so that they have a small chance to be drawn at all.
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
