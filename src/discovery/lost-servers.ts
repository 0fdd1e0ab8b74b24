import { DiscoveryError, type ParsedList } from './provider.ts'

/** Lists from this size on must not lose more than half of their servers at once. */
const minChecked = 10

/**
 * Creates a function that throws if a list has lost all of its servers, or more than half of ten or more, unless the reading before had the
 * same servers: a program that is starting may serve an empty list for a moment.
 */
export function createLossCheck() {
  let unconfirmed: string | undefined
  /** @throws DiscoveryError */
  return <T extends ParsedList>(before: ParsedList | undefined, next: T): T => {
    const [had, has] = [before?.servers.length ?? 0, next.servers.length]
    const isLoss = had > 0 && (has === 0 || (had >= minChecked && 2 * has < had))
    const names = isLoss ? JSON.stringify(next.servers.map(({ name }) => name)) : undefined
    const isConfirmed = names === undefined || names === unconfirmed
    unconfirmed = isConfirmed ? undefined : names
    if (isConfirmed) return next
    throw new DiscoveryError(`it has ${has} instead of ${had} servers, which the next reading has to confirm`)
  }
}
