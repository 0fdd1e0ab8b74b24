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
  readonly #sessions = new SessionTracker()
  readonly #states = new StateTracker()
  readonly #incidents = new IncidentTracker()
  #id = -1
  #isRecording = false
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

  /** Whether players joined or left since the last write. */
  get hasSessionChanges(): boolean {
    return this.#sessions.hasChanges
  }

  /** Whether it is known now who is online. */
  get knowsPlayers(): boolean {
    return this.#sessions.isKnown
  }

  /** Whether an incident has begun or ended since the last write. */
  get hasIncidentNews(): boolean {
    return this.#incidents.hasNews
  }

  /** Whether there is an incident to write. */
  get hasIncidents(): boolean {
    return this.#incidents.hasChanges
  }

  /** From now on snapshots are recorded. */
  resume(stored: StoredServer | undefined): void {
    if (stored === undefined || this.#id >= 0) return
    this.#id = stored.id
    this.#sessions.resume(stored.online, stored.onlineAt)
    this.#states.resume(stored.state, stored.version)
    this.#incidents.resume(stored.incident)
    this.#isRecording = true
  }

  /** @param players the full list, if that is known; @param now Unix milliseconds */
  observe(snapshot: ServerSnapshot, players: readonly Player[] | undefined, now: number): void {
    if (!this.#isRecording) return
    this.#recorder.observe(snapshot)
    this.#states.observe(snapshot, now)
    this.#incidents.observe(snapshot, now)
    if (players === undefined) this.#sessions.markUnknown()
    else this.#sessions.observe(players, now, snapshot.at)
  }

  /** The state is unknown from now until the next snapshot. @param now Unix milliseconds */
  markUnknown(now: number): void {
    this.#recorder.markUnknown()
    this.#incidents.markUnknown(now)
    this.#sessions.markUnknown()
  }

  /** The next list of players is that of another server. @param now Unix milliseconds */
  endSessions(now: number): void {
    this.#sessions.end(now)
  }

  endRecording(): void {
    this.#isRecording = false
  }

  /** Ends what is being recorded, up to now. @returns the number of numbers that `takeTo` moves */
  flush(): number {
    if (this.#isRecording) this.#recorder.flush()
    return this.#slices.length
  }

  /** Moves what was recorded since the last call: the slices to an array from a position on. @param now Unix milliseconds */
  takeTo(slices: Float64Array, position: number, now: number): Omit<Batch, 'slices'> {
    const server = this.#id
    this.#slices.moveTo(slices, position, server)
    return {
      sessions: this.#sessions.take().map((change) => ({ ...change, server })),
      events: this.#states.take().map((event) => ({ ...event, server })),
      incidents: this.#incidents.take(now).map((incident) => ({ ...incident, server })),
    }
  }
}
