import { DiscoveryError, type ParsedList } from './provider.ts'

/** Lists from this size on must not lose more than half of their servers at once. */
const minChecked = 10

/**
 * Creates a function that throws if a list has become empty or lacks more than half of the ten or more servers that it had, unless the
 * reading before had the same servers: a program that is starting may serve an empty or incomplete list for a moment.
 */
export function createLossCheck() {
  let unconfirmed: string | undefined
  /** @throws DiscoveryError */
  return <T extends ParsedList>(before: ParsedList | undefined, next: T): T => {
    const had = before?.servers ?? []
    const names = new Set(next.servers.map(({ name }) => name))
    const lost = had.filter(({ name }) => !names.has(name)).length
    const isLoss = had.length > 0 && (names.size === 0 || (had.length >= minChecked && 2 * lost > had.length))
    const found = isLoss ? JSON.stringify([...names]) : undefined
    const isConfirmed = found === undefined || found === unconfirmed
    unconfirmed = isConfirmed ? undefined : found
    if (isConfirmed) return next
    throw new DiscoveryError(`it lacks ${lost} of its ${had.length} servers, which the next reading has to confirm`)
  }
}
