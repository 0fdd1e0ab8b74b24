import type { Player } from '../../game/fields.ts'
import type { ServerSnapshot } from '../../game/snapshot.ts'
import type { Clock } from '../../util/clock.ts'
import type { Batch, StoredServer } from '../store/store.ts'
import { Slices } from '../values/slices.ts'
import { IncidentTracker } from './incident-tracker.ts'
import { Recorder } from './recorder.ts'
import { SessionTracker } from './sessions.ts'
import { StateTracker } from './state-tracker.ts'

/** What is recorded of one server and not in the database yet. */
export class RecordedServer {
  readonly #slices = new Slices()
  readonly #recorder: Recorder
  readonly #states = new StateTracker()
  readonly sessions = new SessionTracker()
  readonly incidents = new IncidentTracker()
  #id = -1
  /** Resolves when it is known what is stored of the server. */
  readonly loaded: Promise<void>

  constructor(clock: Clock, loaded: Promise<void>) {
    this.loaded = loaded
    this.#recorder = new Recorder(this.#slices, clock)
  }

  /** Its number in the database; -1 before it is loaded. */
  get id(): number {
    return this.#id
  }

  /** From now on snapshots are recorded. */
  resume(stored: StoredServer | undefined): void {
    if (stored === undefined || this.#id >= 0) return
    this.#id = stored.id
    this.sessions.resume(stored.online, stored.onlineAt)
    this.#states.resume(stored.state, stored.version)
    this.incidents.resume(stored.incident)
  }

  /** @param players the full list, if that is known; @param now Unix milliseconds */
  observe(snapshot: ServerSnapshot, players: readonly Player[] | undefined, now: number): void {
    if (this.#id < 0) return
    this.#recorder.observe(snapshot)
    this.#states.observe(snapshot, now)
    this.incidents.observe(snapshot, now)
    if (players === undefined) this.sessions.markUnknown()
    else this.sessions.observe(players, now, snapshot.at)
  }

  /** The state is unknown from now until the next snapshot. @param now Unix milliseconds */
  markUnknown(now: number): void {
    this.#recorder.markUnknown()
    this.incidents.markUnknown(now)
    this.sessions.markUnknown()
  }

  /** Ends what is being recorded, up to now. @returns the number of numbers that `takeTo` moves */
  flush(): number {
    this.#recorder.flush()
    return this.#slices.length
  }

  /** Moves what was recorded since the last call: the slices to an array from a position on. @param now Unix milliseconds */
  takeTo(slices: Float64Array, position: number, now: number): Omit<Batch, 'slices'> {
    const server = this.#id
    this.#slices.moveTo(slices, position, server)
    return {
      sessions: this.sessions.take().map((change) => ({ ...change, server })),
      events: this.#states.take().map((event) => ({ ...event, server })),
      incidents: this.incidents.take(now).map((incident) => ({ ...incident, server })),
    }
  }
}
