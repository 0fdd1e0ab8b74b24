import type { Clock } from '../clock.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { series, seriesNames } from './series.ts'
import type { Observation, ServerHistory } from './server-history.ts'

/** Takes down what the snapshots of one server say, for as long as each is the newest. */
export interface Recorder {
  observe(snapshot: ServerSnapshot): void
  /** Records the newest snapshot up to now. */
  settle(): void
}

/** By how much the wall clock may run apart from the monotonic one without having jumped: 1 s, and 0.1 % of the time passed. */
const maxDriftMs = 1_000
const maxDriftRatio = 0.001

/**
 * A snapshot holds until the next one: the watcher publishes another as soon as a value becomes stale. So the record does not
 * depend on how often the server is polled, and nothing is recorded while nothing is known.
 * @param staleAfter milliseconds after the last contact from which a server that was up counts as unknown
 */
export function createRecorder(history: ServerHistory, clock: Clock, staleAfter: number): Recorder {
  let held: Observation | undefined
  let last = { wall: clock.wall(), now: clock.now() }

  function settle(): void {
    const next = { wall: clock.wall(), now: clock.now() }
    const passed = next.now - last.now
    const drift = Math.abs(next.wall - last.wall - passed)
    // After a jump, or a machine that slept, nobody can say where on the time axis the time since has been.
    if (held !== undefined && passed > 0 && drift <= maxDriftMs + passed * maxDriftRatio) history.add(held, last.wall, passed)
    last = next
  }

  return {
    observe(snapshot) {
      settle()
      held = observationOf(snapshot, staleAfter)
      if (held !== undefined) history.add(held, last.wall, 0)
    },
    settle,
  }
}

/** Undefined where nothing is known of the server. */
function observationOf({ up, fields, lastContact, at }: ServerSnapshot, staleAfter: number): Observation | undefined {
  if (up === undefined) return undefined
  if (up && (lastContact === undefined || at - lastContact.at >= staleAfter)) return undefined
  const values = seriesNames.map((name) => {
    const value = up ? series[name].read(fields) : undefined
    return value !== undefined && Number.isFinite(value) ? Math.max(0, value) : undefined
  })
  return { up, values }
}
