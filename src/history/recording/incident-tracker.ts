import { currentFields, downError, isAsleep, ongoingWorldUpgrade, type ServerSnapshot, tickRatioOf } from '../../game/snapshot.ts'
import type { IncidentRecord } from '../incidents.ts'

/** A server below this part of its target tick rate lags, as for notifications and alerts. */
const laggingBelow = 0.9
/** Lag is an incident once it has lasted for so long, and over once the server has kept up for so long. Milliseconds. */
const lagMs = 60_000

/** What is wrong with a server besides lag; undefined while that is unknown, null if nothing is. */
function problemOf(snapshot: ServerSnapshot): 'down' | 'hung' | null | undefined {
  const { up, mainThread } = snapshot
  if (up === undefined) return undefined
  if (isAsleep(snapshot) === true || ongoingWorldUpgrade(snapshot)?.state === 'running') return null
  if (!up) return 'down'
  return mainThread?.responsive === false ? 'hung' : null
}

/**
 * Notices when an incident of one server begins and ends. An incident goes on over a time in which the state of the server is unknown, or
 * nothing is recorded, if it still holds afterwards; that time is counted.
 */
export class IncidentTracker {
  #open: IncidentRecord | undefined
  #ended: IncidentRecord[] = []
  #isNew = false
  /** Unix milliseconds from which on nothing is known; undefined while the state is known. */
  #unknownFrom: number | undefined
  /** Unix milliseconds at which the newest snapshot becomes stale. */
  #validUntil = Number.POSITIVE_INFINITY
  /** Unix milliseconds since when the server lags that is not recorded as lagging, or the other way around. */
  #turnedAt: number | undefined
  /** The lowest number of ticks per second since it lags. */
  #lowestRate = Number.POSITIVE_INFINITY

  /** Whether one has begun or ended since the last call of `take`. */
  get hasNews(): boolean {
    return this.#isNew
  }

  /** Whether `take` returns anything. */
  get hasChanges(): boolean {
    return this.#open !== undefined || this.#ended.length > 0
  }

  /** Continues from what an earlier process recorded. */
  resume(open: IncidentRecord | undefined): void {
    this.#open = open
    this.#unknownFrom = open?.knownAt
    if (open?.kind === 'lag' && open.detail !== null) this.#lowestRate = Number(open.detail)
  }

  /** @param now Unix milliseconds */
  observe(snapshot: ServerSnapshot, now: number): void {
    const { at, knownUntil = Number.POSITIVE_INFINITY } = snapshot
    // The snapshot that makes the state unknown is late, or missing, if the process was stopped for a while.
    if (now > this.#validUntil) this.markUnknown(this.#validUntil)
    this.#validUntil = now + knownUntil - at
    // The clock was set back.
    if (this.#turnedAt !== undefined && now < this.#turnedAt) this.#turnedAt = now
    const problem = problemOf(snapshot)
    if (problem === undefined) this.markUnknown(now)
    else if (problem === null) this.#observeTicks(snapshot, now)
    else {
      this.#markKnown(now)
      this.#turnedAt = undefined
      this.#set(problem, now, problem === 'down' ? (downError(snapshot) ?? null) : null)
    }
  }

  /** Nothing is known of the server from now on. */
  markUnknown(now: number): void {
    this.#unknownFrom ??= now
    this.#turnedAt = undefined
  }

  /** Returns the incidents that have ended since the last call, and the one that goes on. */
  take(now: number): readonly IncidentRecord[] {
    const open = this.#open
    const ended = this.#ended
    if (ended.length > 0) this.#ended = []
    this.#isNew = false
    if (open === undefined) return ended
    return [...ended, { ...open, knownAt: Math.max(open.from, this.#unknownFrom ?? Math.min(now, this.#validUntil)) }]
  }

  /** The server is up and answers. */
  #observeTicks(snapshot: ServerSnapshot, now: number): void {
    const wasLagging = this.#open?.kind === 'lag'
    const [ratio, rate] = [tickRatioOf(snapshot), currentFields(snapshot).tickRate?.value]
    if (rate === undefined && wasLagging) {
      this.markUnknown(now)
      return
    }
    this.#markKnown(now)
    // A server that is paused or frozen does not lag.
    if (!wasLagging || ratio === undefined) this.#set(undefined, now)
    const isLagging = ratio !== undefined && ratio < laggingBelow
    if (isLagging) this.#lowestRate = Math.min(this.#lowestRate, rate ?? Number.POSITIVE_INFINITY)
    if (isLagging === (this.#open?.kind === 'lag')) this.#turnedAt = undefined
    else this.#turnedAt ??= now
    if (this.#turnedAt !== undefined && now - this.#turnedAt >= lagMs) {
      this.#set(isLagging ? 'lag' : undefined, this.#turnedAt)
      this.#turnedAt = undefined
    }
    const detail = String(Math.round(this.#lowestRate * 10) / 10)
    if (this.#open !== undefined && isLagging && this.#open.detail !== detail) this.#open = { ...this.#open, detail }
    if (this.#open === undefined && !isLagging) this.#lowestRate = Number.POSITIVE_INFINITY
  }

  #markKnown(now: number): void {
    const unknownMs = Math.max(0, now - (this.#unknownFrom ?? now))
    if (this.#open !== undefined && unknownMs > 0) this.#open = { ...this.#open, unknownMs: this.#open.unknownMs + unknownMs }
    this.#unknownFrom = undefined
  }

  /** @param at when the incident of this kind began, and any other ended */
  #set(kind: IncidentRecord['kind'] | undefined, at: number, detail: string | null = null): void {
    if (kind === this.#open?.kind) return
    this.#isNew = true
    if (this.#open !== undefined) {
      // The clock may have been set back since it began.
      const to = Math.max(at, this.#open.from)
      this.#ended.push({ ...this.#open, to, knownAt: to })
    }
    this.#open = kind === undefined ? undefined : { kind, from: at, to: null, knownAt: at, unknownMs: 0, detail }
  }
}
