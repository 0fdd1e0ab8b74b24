import { downError, type ServerSnapshot } from '../../game/snapshot.ts'

/** A change of the state of a server. */
export interface StateEvent {
  /** Unix milliseconds. */
  readonly time: number
  readonly kind: 'up' | 'down' | 'hung' | 'version'
  readonly detail: string | null
}

/** Notices when the state or the version of one server changes. Unknown states in between are no change. */
export class StateTracker {
  #state: string | null = null
  #version: string | null = null
  #events: StateEvent[] = []

  /** Continues from what an earlier process recorded. */
  resume(state: string | null, version: string | null): void {
    this.#state = state
    this.#version = version
  }

  /** @param time Unix milliseconds */
  observe(snapshot: ServerSnapshot, time: number): void {
    const { up, mainThread, fields } = snapshot
    if (up === undefined) return
    const kind = !up ? 'down' : mainThread?.responsive === false ? 'hung' : 'up'
    if (kind !== this.#state) this.#events.push({ time, kind, detail: up ? null : (downError(snapshot) ?? null) })
    this.#state = kind
    const version = up ? fields.version?.value : undefined
    if (version === undefined || version === this.#version) return
    this.#version = version
    this.#events.push({ time, kind: 'version', detail: version })
  }

  /** Returns the events since the last call. */
  take(): readonly StateEvent[] {
    const taken = this.#events
    if (taken.length > 0) this.#events = []
    return taken
  }
}
