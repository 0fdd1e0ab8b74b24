import type { Clock } from '../util/clock.ts'
import type { SnapshotOrder } from '../util/part-metrics.ts'
import type { Membership } from './membership.ts'
import type { SharedWatcher } from './shared-watcher.ts'

export interface StreamOrderOptions {
  readonly clock: Clock
  /** The last position of the stream that was read; undefined before the start. */
  readonly read: () => number | undefined
  readonly membership: () => Membership | undefined
}

/** The order of the snapshots that is the same on all replicas: that of the stream. */
export class StreamOrder implements SnapshotOrder {
  readonly #options: StreamOrderOptions
  /** Those whose state here may differ from that on other replicas. */
  readonly #diverged = new Set<SharedWatcher>()
  /** Position of the entry that is being applied. */
  #applying: number | undefined
  /** From this position on, the events of all replicas are the same. */
  #completeFrom = Number.POSITIVE_INFINITY
  /** The last position of what was loaded instead of read from the stream. */
  #loadedTo = 0
  #isLoading = false
  #watchedUntil = 0

  constructor(options: StreamOrderOptions) {
    this.#options = options
  }

  position(): number | undefined {
    return this.#isSame && this.#applying !== undefined && this.#applying >= this.#completeFrom ? this.#applying : undefined
  }

  last(): number {
    return this.#options.read() ?? 0
  }

  completeFrom(): number {
    return this.#isSame ? this.#completeFrom : Number.POSITIVE_INFINITY
  }

  isWatched(): boolean {
    return this.#options.membership()?.isWatched ?? false
  }

  watchFor(ms: number): void {
    this.#watchedUntil = Math.max(this.#watchedUntil, this.#options.clock.now() + ms)
  }

  /** Milliseconds for which events must still be recorded. */
  watchedMs(): number {
    return Math.max(0, Math.round(this.#watchedUntil - this.#options.clock.now()))
  }

  /** Applies the entry at a position. */
  apply(position: number, action: () => void): void {
    this.#applying = position
    action()
    this.#applying = undefined
  }

  /** @param isShared whether the new snapshot of the server is the same on all replicas */
  published(watcher: SharedWatcher, isShared: boolean): void {
    if (!isShared) this.#diverged.add(watcher)
    else if (this.#diverged.delete(watcher) && this.#diverged.size === 0) this.#completeFromNext()
  }

  removed(watcher: SharedWatcher): void {
    this.#diverged.delete(watcher)
  }

  /** What was loaded may be newer than the last entry that was read: until then, clients of other replicas cannot continue here. */
  loaded(position: number): void {
    this.#loadedTo = Math.max(this.#loadedTo, position)
    this.#completeFrom = Math.max(this.#loadedTo + 1, this.#completeFrom)
  }

  /** Everything is being loaded. */
  beginLoading(): void {
    this.#isLoading = true
  }

  endLoading(): void {
    this.#isLoading = false
    this.#completeFromNext()
  }

  /** Whether the state is that of all replicas that have read the same entries. */
  get #isSame(): boolean {
    return this.#diverged.size === 0 && !this.#isLoading
  }

  /** Of the present entry, other replicas may have more events. */
  #completeFromNext(): void {
    this.#completeFrom = Math.max(this.#loadedTo + 1, (this.#options.read() ?? Number.POSITIVE_INFINITY) + 1)
  }
}
