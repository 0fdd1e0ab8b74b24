import type { Source } from '../sources/source.ts'

/**
 * Whether a server is up, from what its sources last met with: up if any of them reached it, down if all of them have tried and
 * none did.
 */
export interface Reachability {
  /** Undefined: unknown, because not every source has been polled and none has reached the server. */
  readonly up: boolean | undefined
  /** @returns true where the server was down until now */
  reached(source: Source): boolean
  missed(source: Source): void
  /** Whether the source reached the server when it last tried; undefined before its first poll has ended. */
  hasReached(source: Source): boolean | undefined
  /** Forgets the sources that are not among these, and decides anew. */
  update(sources: readonly Source[]): void
}

/** @param isNetwork whether the source speaks to the server: reading a directory says nothing about whether the server runs */
export const createReachability = (isNetwork: (source: Source) => boolean): Reachability => new SourceReachability(isNetwork)

/** A class, because thousands of servers have one each, and a getter in an object of its own takes a kilobyte. */
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
