import type { Source } from '../sources/source.ts'

/**
 * Whether a server is up: up if the last poll of any source reached it, down if all sources were polled and none reached it.
 */
export interface Reachability {
  /** Undefined if unknown: no source has reached the server, and not all of them have been polled. */
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

/** A class to save memory: there is one for each of thousands of servers, and an object literal with a getter takes a kilobyte. */
class SourceReachability implements Reachability {
  readonly #isNetwork: (source: Source) => boolean
  readonly #outcomes = new Map<Source, boolean>()
  #up: boolean | undefined

  constructor(isNetwork: (source: Source) => boolean) {
    this.#isNetwork = isNetwork
  }

  get up(): boolean | undefined {
    return this.#up
  }

  reached(source: Source): boolean {
    this.#outcomes.set(source, true)
    if (!this.#isNetwork(source)) return false
    const wasDown = this.#up === false
    this.#up = true
    return wasDown
  }

  missed(source: Source): void {
    this.#outcomes.set(source, false)
  }

  hasReached(source: Source): boolean | undefined {
    return this.#outcomes.get(source)
  }

  update(sources: readonly Source[]): void {
    const listed = new Set(sources)
    for (const source of this.#outcomes.keys()) if (!listed.has(source)) this.#outcomes.delete(source)
    const network = sources.filter(this.#isNetwork).map((source) => this.#outcomes.get(source))
    if (network.includes(true)) this.#up = true
    else if (!network.includes(undefined)) this.#up = false
  }
}
