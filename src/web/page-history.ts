import type { Fleet } from '../game/fleet.ts'
import type { History } from '../history/history.ts'
import type { Clock } from '../util/clock.ts'
import { createPauses } from '../util/pauses.ts'
import type { CardHistory, FleetPage, ServerDetails, Session } from './view/types.ts'

/** The history that the page shows. */
export interface PageHistory {
  card(server: string): CardHistory
  record(server: string): NonNullable<ServerDetails['record']> | undefined
  /** Newest first. */
  sessions(server: string): readonly Session[]
  /** Maximum number of players on all servers since midnight UTC. */
  peakToday(): NonNullable<FleetPage['peak']> | undefined
  close(): void
}

const dayMs = 86_400_000
const minute = 60_000
const shownDays = 90
/** Points of the curve of a day. */
const points = 96

/** Joins quarters of an hour to half hours: the mean of the known values. */
const halves = (quarters: readonly (number | null)[]): readonly (number | null)[] =>
  Array.from({ length: quarters.length / 2 }, (_, index) => {
    const known = quarters.slice(2 * index, 2 * index + 2).filter((value) => value !== null)
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
  })

type Peak = NonNullable<FleetPage['peak']>

const dayOf = (at: number): number => Math.floor(at / dayMs)

/** The recorded maximum number of players on all servers on the day of `now`. */
async function recordedPeak(fleet: Fleet, history: History, now: number, isClosed: () => boolean): Promise<Peak | undefined> {
  const totals = new Map<number, number>()
  const pauses = createPauses()
  for (const { server } of fleet.watchers) {
    if (pauses.isDue()) await pauses.take()
    if (isClosed()) return undefined
    // Most of the work is to read the minutes of a day.
    if (history.uptime(server, 1).days[0]?.players.max === null) continue
    const { from, step, series } = history.range(server, { names: ['players'], range: dayMs, points: dayMs / minute })
    for (const [index, mean] of (series.players?.mean ?? []).entries()) {
      const at = from + index * step
      if (mean !== null && dayOf(at) === dayOf(now)) totals.set(at, (totals.get(at) ?? 0) + mean)
    }
  }
  let peak: Peak | undefined
  for (const [at, total] of totals) if (total > (peak?.players ?? -1)) peak = { players: Math.round(total), at }
  return peak
}

/** Reads the past of the servers from their history, and the total peak from their snapshots. */
export function createPageHistory(
  fleet: Fleet,
  history: History,
  clock: Clock,
  maintenancePart: (server: string, date: string) => number = () => 0,
): PageHistory {
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

  let isRecordedRead = false
  /** When the page is first shown: for thousands of servers it takes seconds, which the first polls need. */
  function readRecordedPeak(): void {
    if (isRecordedRead) return
    isRecordedRead = true
    void recordedPeak(fleet, history, clock.wall(), () => closed).then((recorded) => {
      if (recorded !== undefined && (peak === undefined || recorded.players > peak.players)) peak = recorded
    })
  }

  return {
    card(server) {
      const { days } = history.uptime(server, shownDays)
      const { from, to, up } = history.recentUptime(server)
      const { series } = history.range(server, { names: ['players'], range: dayMs, points })
      return {
        days: days.map(({ date, up, known }) => ({ date, up, known, maintenance: maintenancePart(server, date) })),
        parts: halves(up),
        players: series.players?.mean ?? [],
        from,
        to,
      }
    },
    record(server) {
      const { players, at } = history.uptime(server, 1).record
      return players === null || at === null ? undefined : { players, at }
    },
    sessions: (server) =>
      history.sessions(server).map(({ name, id, from, to, isOnline }) => ({
        player: { ID: id ?? '', NAME: name },
        from: from ?? null,
        to: to ?? null,
        isOnline,
      })),
    peakToday() {
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
