import type { SnapshotOrder } from '../util/part-metrics.ts'
import type { Membership } from './membership.ts'
import type { SharedWatcher } from './shared-watcher.ts'
import type { StreamReader } from './stream-reader.ts'

/** The order of the snapshots that is the same on all replicas: that of the stream. */
export class StreamOrder implements SnapshotOrder {
  readonly #membership: Membership
  readonly #reader: StreamReader
  /** Those whose state here may differ from that on other replicas. */
  readonly #diverged = new Set<SharedWatcher>()
  /** Position of the entry that is being applied. */
  #applying: number | undefined
  /** From this position on, the events of all replicas are the same. */
  #completeFrom = Number.POSITIVE_INFINITY
  /** The last position of what was loaded instead of read from the stream. */
  #loadedTo = 0
  #isLoading = false

  constructor(membership: Membership, reader: StreamReader) {
    this.#membership = membership
    this.#reader = reader
  }

  position(): number | undefined {
    return this.#isSame && this.#applying !== undefined && this.#applying >= this.#completeFrom ? this.#applying : undefined
  }

  last(): number {
    return this.#reader.position
  }

  completeFrom(): number {
    return this.#isSame ? this.#completeFrom : Number.POSITIVE_INFINITY
  }

  isWatched(): boolean {
    return this.#membership.isWatched
  }

  watchFor(ms: number): void {
    this.#membership.watchFor(ms)
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

  /** @param isLoading whether everything is being loaded */
  setLoading(isLoading: boolean): void {
    this.#isLoading = isLoading
    if (!isLoading) this.#completeFromNext()
  }

  /** Whether the state is that of all replicas that have read the same entries. */
  get #isSame(): boolean {
    return this.#diverged.size === 0 && !this.#isLoading
  }

  /** Of the present entry, other replicas may have more events. */
  #completeFromNext(): void {
    this.#completeFrom = Math.max(this.#loadedTo, this.#reader.position) + 1
  }
}
