import type { Fleet } from '../game/fleet.ts'
import type { History } from '../history/history.ts'
import { dayMs } from '../history/values/levels.ts'
import type { PlayerCounts, ServerOverview } from '../history/values/overview.ts'
import type { Clock } from '../util/clock.ts'
import { fewServers, largestServers } from './view/graph.ts'
import type { CardHistory, FleetPage } from './view/types.ts'

const hourMs = 3_600_000
/** For how long the players of all servers are not read again: for all visitors together. */
const graphMs = 60_000
type Peak = NonNullable<FleetPage['peak']>

/** The history reports its failures itself. */
const ignore = () => {}

const dayOf = (at: number): number => Math.floor(at / dayMs)

/** The recorded maximum number of players on all servers on the day of `now`, hour by hour: other queries need not wait for all. */
async function recordedPeak(history: History, now: number, isClosed: () => boolean): Promise<Peak | undefined> {
  let peak: Peak | undefined
  for (let from = dayOf(now) * dayMs; from < now && !isClosed(); from += hourMs) {
    const found = await history.peak(from, from + hourMs)
    if (found !== null && found.players > (peak?.players ?? -1)) peak = found
  }
  return peak
}

/** The past of all servers for their page: from their history, and the total peak also from their snapshots. */
export function createPageHistory(
  fleet: Fleet,
  history: History,
  clock: Clock,
  maintenancePart: (server: string, date: string) => number = () => 0,
) {
  const online = new Map<string, number>()
  let total = 0
  let peak: Peak | undefined
  let closed = false

  function count(server: string, players: number): void {
    total += players - (online.get(server) ?? 0)
    online.set(server, players)
    const at = Math.round(clock.wall())
    if (peak === undefined || dayOf(peak.at) !== dayOf(at) || total > peak.players) peak = { players: total, at }
  }

  const unfollow = fleet.onChange(({ changed, removed }) => {
    for (const server of [...changed, ...removed]) {
      total -= online.get(server) ?? 0
      online.delete(server)
    }
  })
  const unsubscribe = fleet.subscribe((snapshot) => {
    const players = snapshot.up === true ? snapshot.fields.playersOnline?.value : 0
    if (players !== undefined) count(snapshot.server, players)
  })

  let graph: { readonly until: number; readonly counts: Promise<PlayerCounts> } | undefined

  let isRecordedRead = false
  /** When the page is first shown: for thousands of servers it takes seconds, which the first polls need. */
  function readRecordedPeak(): void {
    if (isRecordedRead) return
    isRecordedRead = true
    void recordedPeak(history, clock.wall(), () => closed).then((recorded) => {
      if (recorded !== undefined && (peak === undefined || recorded.players > peak.players)) peak = recorded
    }, ignore)
  }

  const toCard = (server: string, { from, to, up, players, since, days }: ServerOverview): CardHistory => ({
    ...{ from, to, since, parts: up },
    players: players.map((count) => count && Math.round(count * 10) / 10),
    days: days.map((day) => ({ ...day, maintenance: maintenancePart(server, day.date) })),
  })

  return {
    /** The history of each server for its card. */
    async cards(): Promise<(server: string) => CardHistory> {
      const read = await history.overview()
      return (server) => toCard(server, read(server))
    },
    /** The players of the last 24 hours, of all servers together and of the largest ones; at most a minute old. */
    graph(): Promise<PlayerCounts> {
      if (graph === undefined || clock.now() >= graph.until) {
        const isFew = fleet.servers.length <= fewServers
        const next = { until: clock.now() + graphMs, counts: history.playerCounts(isFew ? fewServers : largestServers) }
        next.counts.catch(() => {
          if (graph === next) graph = undefined
        })
        graph = next
      }
      return graph.counts
    },
    /** Maximum number of players on all servers since midnight UTC. */
    peakToday(): Peak | undefined {
      readRecordedPeak()
      return peak !== undefined && dayOf(peak.at) === dayOf(clock.wall()) ? peak : undefined
    },
    close() {
      closed = true
      unfollow()
      unsubscribe()
    },
  }
}

export type PageHistory = ReturnType<typeof createPageHistory>
