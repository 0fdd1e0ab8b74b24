import type { Source } from '../sources/source.ts'

interface Outcome {
  readonly source: Source
  result: 'reached' | 'missed' | 'asleep'
}

const noOutcomes: readonly Outcome[] = []

/**
 * Whether a server is up: up if the last poll of any source reached it, down if all sources that connect to it were polled and none
 * reached it, or if it is asleep.
 * @param isNetwork whether the source connects to the server: reading a directory does not show that the server is running
 */
export class Reachability {
  readonly #isNetwork: (source: Source) => boolean
  readonly #listSources: () => readonly Source[]
  #outcomes: readonly Outcome[] = noOutcomes
  #up: boolean | undefined

  constructor(isNetwork: (source: Source) => boolean, listSources: () => readonly Source[]) {
    this.#isNetwork = isNetwork
    this.#listSources = listSources
  }

  /**
   * Undefined if unknown: no source has reached the server, and not all of them have been polled, or none connects to it, or it may be
   * asleep: a proxy that answers for the stopped server may answer the other sources too.
   */
  get up(): boolean | undefined {
    return this.#up
  }

  /**
   * Whether a proxy answers for the stopped server, or may do so, as the source that detects it has not been polled yet. The replies
   * that other sources receive meanwhile may be of the proxy too.
   */
  get mayBeAsleep(): boolean {
    return this.#isAsleep || this.#listSources().some((source) => source.detectsSleep && this.#find(source) === undefined)
  }

  /** Whether what the source has read shows that the server is up. */
  isContact(source: Source): boolean {
    return this.#isNetwork(source) && !this.mayBeAsleep
  }

  /** Returns true if the server was down until now. */
  reached(source: Source): boolean {
    this.#set(source, 'reached')
    if (!this.isContact(source)) return false
    const wasDown = this.#up === false
    this.#up = true
    return wasDown
  }

  /**
   * The first miss after the server was asleep says nothing: a proxy may still answer the other sources.
   * @param isAsleep whether a proxy answered for the server
   */
  missed(source: Source, isAsleep = false): void {
    const wasAsleep = this.#find(source)?.result === 'asleep'
    if (isAsleep || !wasAsleep) this.#set(source, isAsleep ? 'asleep' : 'missed')
    else {
      this.#outcomes = this.#outcomes.filter((outcome) => outcome.source !== source)
      this.#up = undefined
    }
  }

  /** Whether the last poll of the source reached the server; undefined until its first poll has ended. */
  hasReached(source: Source): boolean | undefined {
    const outcome = this.#find(source)
    return outcome && outcome.result === 'reached'
  }

  /** Drops sources that are no longer listed, and updates `up`. */
  update(): void {
    const sources = this.#listSources()
    if (!this.#outcomes.every(({ source }) => sources.includes(source))) {
      this.#outcomes = this.#outcomes.filter(({ source }) => sources.includes(source))
    }
    if (this.mayBeAsleep) {
      if (this.#isAsleep) this.#up = false
      return
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

  get #isAsleep(): boolean {
    return this.#outcomes.some(({ result }) => result === 'asleep')
  }

  #find(source: Source): Outcome | undefined {
    return this.#outcomes.find((outcome) => outcome.source === source)
  }

  #set(source: Source, result: Outcome['result']): void {
    const outcome = this.#find(source)
    if (outcome === undefined) this.#outcomes = this.#outcomes.concat({ source, result })
    else outcome.result = result
  }
}
