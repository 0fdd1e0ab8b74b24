import type { Clock } from '../clock.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { series, seriesNames } from './series.ts'
import type { Observation, ServerHistory } from './server-history.ts'

/** Records the snapshots of one server, each for as long as it is the newest. */
export interface Recorder {
  observe(snapshot: ServerSnapshot): void
  /** Records the newest snapshot up to now. */
  flush(): void
}

/** A larger difference between the wall clock and the monotonic clock is a jump: 1 s, plus 0.1 % of the elapsed time. */
const maxDriftMs = 1_000
const maxDriftRatio = 0.001

/**
 * A snapshot is valid until the next one: the watcher publishes another as soon as a value becomes stale. So the record does not
 * depend on how often the server is polled, and nothing is recorded while the state is unknown.
 * @param staleAfter milliseconds after the last contact after which the state of a server is unknown
 */
export function createRecorder(history: ServerHistory, clock: Clock, staleAfter: number): Recorder {
  let held: Observation | undefined
  let last = { wall: clock.wall(), now: clock.now() }

  function flush(): void {
    const next = { wall: clock.wall(), now: clock.now() }
    const passed = next.now - last.now
    const drift = Math.abs(next.wall - last.wall - passed)
    // After a clock jump, or after the machine has been suspended, the elapsed time cannot be placed on the time axis.
    if (held !== undefined && passed > 0 && drift <= maxDriftMs + passed * maxDriftRatio) history.add(held, last.wall, passed)
    last = next
  }

  return {
    observe(snapshot) {
      flush()
      held = observationOf(snapshot, staleAfter)
      if (held !== undefined) history.add(held, last.wall, 0)
    },
    flush,
  }
}

/** Undefined if the state of the server is unknown. */
function observationOf({ up, fields, lastContact, at }: ServerSnapshot, staleAfter: number): Observation | undefined {
  if (up === undefined) return undefined
  if (up && (lastContact === undefined || at - lastContact.at >= staleAfter)) return undefined
  const values = seriesNames.map((name) => {
    const value = up ? series[name].read(fields) : undefined
    return value !== undefined && Number.isFinite(value) ? Math.max(0, value) : undefined
  })
  return { up, values }
}
