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
export function createReachability(isNetwork: (source: Source) => boolean): Reachability {
  const outcomes = new Map<Source, boolean>()
  let up: boolean | undefined

  return {
    get up() {
      return up
    },
    reached(source) {
      outcomes.set(source, true)
      if (!isNetwork(source)) return false
      const wasDown = up === false
      up = true
      return wasDown
    },
    missed: (source) => void outcomes.set(source, false),
    hasReached: (source) => outcomes.get(source),
    update(sources) {
      const listed = new Set(sources)
      for (const source of outcomes.keys()) if (!listed.has(source)) outcomes.delete(source)
      const network = sources.filter(isNetwork).map((source) => outcomes.get(source))
      if (network.includes(true)) up = true
      else if (!network.includes(undefined)) up = false
    },
  }
}
