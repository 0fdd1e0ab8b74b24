import type { Source } from '../sources/source.ts'

/**
 * Whether a server is up: up if the last poll of any source reached it, down if all sources that connect to it were polled and none
 * reached it.
 */
export interface Reachability {
  /** Undefined if unknown: no source has reached the server, and not all of them have been polled, or none connects to it. */
  readonly up: boolean | undefined
  /** Returns true if the server was down until now. */
  reached(source: Source): boolean
  missed(source: Source): void
  /** Whether the last poll of the source reached the server; undefined until its first poll has ended. */
  hasReached(source: Source): boolean | undefined
  /** Drops sources that are not in the list, and updates `up`. */
  update(sources: readonly Source[]): void
}

/** @param isNetwork whether the source connects to the server: reading a directory does not show that the server is running */
export const createReachability = (isNetwork: (source: Source) => boolean): Reachability => new SourceReachability(isNetwork)

interface Outcome {
  readonly source: Source
  hasReached: boolean
}

const noOutcomes: readonly Outcome[] = []

/** A class to save memory: there is one for each of thousands of servers, and an object literal with a getter takes a kilobyte. */
class SourceReachability implements Reachability {
  readonly #isNetwork: (source: Source) => boolean
  /** Few: a search takes less time than a Map, and less memory. */
  #outcomes: readonly Outcome[] = noOutcomes
  #up: boolean | undefined

  constructor(isNetwork: (source: Source) => boolean) {
    this.#isNetwork = isNetwork
  }

  get up(): boolean | undefined {
    return this.#up
  }

  reached(source: Source): boolean {
    this.#set(source, true)
    if (!this.#isNetwork(source)) return false
    const wasDown = this.#up === false
    this.#up = true
    return wasDown
  }

  missed(source: Source): void {
    this.#set(source, false)
  }

  hasReached(source: Source): boolean | undefined {
    return this.#find(source)?.hasReached
  }

  update(sources: readonly Source[]): void {
    if (!this.#outcomes.every(({ source }) => sources.includes(source))) {
      this.#outcomes = this.#outcomes.filter(({ source }) => sources.includes(source))
    }
    let hasNetwork = false
    let isPending = false
    for (const source of sources) {
      if (!this.#isNetwork(source)) continue
      hasNetwork = true
      const hasReached = this.hasReached(source)
      if (hasReached) {
        this.#up = true
        return
      }
      if (hasReached === undefined) isPending = true
    }
    if (!hasNetwork) this.#up = undefined
    else if (!isPending) this.#up = false
  }

  #find(source: Source): Outcome | undefined {
    return this.#outcomes.find((outcome) => outcome.source === source)
  }

  #set(source: Source, hasReached: boolean): void {
    const outcome = this.#find(source)
    // Not by push() nor by a spread, for which V8 makes room for 17 elements.
    if (outcome === undefined) this.#outcomes = this.#outcomes.concat({ source, hasReached })
    else outcome.hasReached = hasReached
  }
}
