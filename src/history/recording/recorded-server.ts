import type { Player } from '../../game/fields.ts'
import type { ServerSnapshot } from '../../game/snapshot.ts'
import type { Clock } from '../../util/clock.ts'
import type { Batch, StoredServer } from '../store/store.ts'
import { IncidentTracker } from './incident-tracker.ts'
import { Recorder } from './recorder.ts'
import { SessionTracker } from './sessions.ts'
import { StateTracker } from './state-tracker.ts'

type Lists<T> = { readonly [K in keyof T]: T[K] extends readonly (infer U)[] ? U[] : T[K][] }

/** What is recorded of one server and not in the database yet. */
export class RecordedServer {
  readonly #recorder: Recorder
  readonly #states = new StateTracker()
  readonly sessions = new SessionTracker()
  readonly incidents = new IncidentTracker()
  /** Its number in the database; -1 if that is read-only and lacks the server. */
  readonly id: number

  /** @param maintainedSince when its maintenance began, Unix milliseconds; undefined if it is in none */
  constructor(stored: StoredServer, clock: Clock, maintainedSince?: () => number | undefined) {
    this.#recorder = new Recorder(clock, maintainedSince)
    this.id = stored.id
    this.sessions.resume(stored.online, stored.onlineAt)
    this.#states.resume(stored.state, stored.version)
    this.incidents.resume(stored.incident)
  }

  /** @param players the full list, if that is known; @param now Unix milliseconds */
  observe(snapshot: ServerSnapshot, players: readonly Player[] | undefined, now: number): void {
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

  /** Moves what was recorded since the last call, up to now, to the end of these lists. @param now Unix milliseconds */
  moveTo({ slices, sessions, events, incidents }: Lists<Batch>, now: number): void {
    const server = this.id
    slices.push(this.#recorder.take(server))
    for (const change of this.sessions.take()) sessions.push({ ...change, server })
    for (const event of this.#states.take()) events.push({ ...event, server })
    for (const incident of this.incidents.take(now)) incidents.push({ ...incident, server })
  }
}
