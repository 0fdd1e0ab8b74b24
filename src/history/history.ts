import type { Clock } from '../clock.ts'
import type { Fleet } from '../game/fleet.ts'
import { type RangeQuery, type RangeValues, readRange } from './range.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { createServerHistory, levels, type ServerHistory } from './server-history.ts'
import { readUptime, type Uptime } from './uptime.ts'

/** The history of all servers. An unknown server is one of which nothing was ever known. */
export interface History {
  range(server: string, query: RangeQuery): RangeValues
  /** @param days 1 to 400, today included */
  uptime(server: string, days: number): Uptime
  /** Memory held, in bytes. */
  bytes(): number
  close(): Promise<void>
}

interface Recorded {
  readonly history: ServerHistory
  readonly recorder: Recorder
}

export interface HistoryOptions {
  readonly fleet: Fleet
  readonly clock: Clock
}

const finest = levels[0].step

/** Records what the snapshots of the fleet say. */
export async function openHistory({ fleet, clock }: HistoryOptions): Promise<History> {
  const servers = new Map<string, Recorded>()

  function of(server: string): Recorded {
    const before = servers.get(server)
    if (before !== undefined) return before
    const history = createServerHistory()
    const staleAfter = fleet.get(server)?.settings.staleAfter ?? Number.POSITIVE_INFINITY
    const recorded = { history, recorder: createRecorder(history, clock, staleAfter) }
    servers.set(server, recorded)
    return recorded
  }

  /** The history up to now. */
  function settled(server: string): ServerHistory {
    const { history, recorder } = of(server)
    recorder.settle()
    return history
  }

  let cancel = () => {}
  function schedule(): void {
    const now = clock.wall()
    cancel = clock.after((Math.floor(now / finest) + 1) * finest - now, () => {
      for (const { recorder, history } of servers.values()) {
        recorder.settle()
        history.takeSlices()
      }
      schedule()
    })
  }

  const unsubscribe = fleet.subscribe((snapshot) => of(snapshot.server).recorder.observe(snapshot))
  schedule()

  return {
    range: (server, query) => readRange(settled(server), query, clock.wall()),
    uptime: (server, days) => readUptime(settled(server), days, clock.wall()),
    bytes: () => [...servers.values()].reduce((sum, { history }) => sum + history.bytes(), 0),
    async close() {
      unsubscribe()
      cancel()
    },
  }
}
