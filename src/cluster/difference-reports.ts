import type { Clock } from '../util/clock.ts'
import { joinFirst } from '../util/join-first.ts'
import type { Log } from '../util/log.ts'
import type { ListDifference } from './server-lists.ts'

/** Logs servers that replicas list differently: each once, if the difference stays. */
export interface DifferenceReports {
  /** To be called from time to time. */
  check(differences: readonly ListDifference[]): void
}

const messages: Readonly<Record<ListDifference['kind'], readonly [found: string, advice: string]>> = {
  settings: [
    'have different settings on another replica',
    'Each is polled with the settings of the replica that polls it. Give all replicas the same settings; secrets are not compared.',
  ],
  missing: ['are not listed by another replica', 'That replica does not show them. Give all replicas the same servers.'],
}

/** @param graceMs replicas read the same change of a list at different times */
export function createDifferenceReports(log: Log, clock: Clock, graceMs: number): DifferenceReports {
  /** Monotonic milliseconds since when each difference exists. */
  let since: ReadonlyMap<string, number> = new Map()
  const reported = new Set<string>()

  return {
    check(differences) {
      if (differences.length === 0 && since.size === 0) return
      const now = clock.now()
      const next = new Map<string, number>()
      const overdue: Record<ListDifference['kind'], ListDifference[]> = { settings: [], missing: [] }
      for (const difference of differences) {
        // Without the member, because a replica that restarts is another member.
        const key = `${difference.kind} ${difference.server}`
        if (next.has(key)) continue
        const from = since.get(key) ?? now
        next.set(key, from)
        if (reported.has(key) || now - from < graceMs) continue
        reported.add(key)
        overdue[difference.kind].push(difference)
      }
      since = next
      for (const [kind, found] of Object.entries(overdue) as [ListDifference['kind'], ListDifference[]][]) {
        if (found.length === 0) continue
        const [problem, advice] = messages[kind]
        const names = joinFirst([...new Set(found.map(({ server }) => server))], ', ')
        const members = [...new Set(found.map(({ member }) => member))]
        log.warn({ servers: found.length, members }, `Servers ${problem} (${joinFirst(members, ', ')}): ${names}. ${advice}`)
      }
      const wasReported = reported.size > 0
      for (const key of reported) if (!next.has(key)) reported.delete(key)
      if (wasReported && reported.size === 0) log.info('All replicas list the same servers with the same settings again.')
    },
  }
}
