import type { Clock } from '../../util/clock.ts'
import type { SourceName } from '../sources/names.ts'

/** Minimum milliseconds between two requested polls of one source. */
const spacingMs = 1_000

interface RequestMaps {
  readonly requested: Map<SourceName, { readonly at: number; readonly cancel: () => void }>
  readonly polledAt: Map<SourceName, number>
}

/**
 * Extra polls of single sources between the scheduled ones, requested by the sources themselves.
 * @param poll polls the source; returns false if it is already being polled, and another poll is needed afterwards
 */
export class PollRequests {
  readonly #clock: Clock
  readonly #poll: (source: SourceName) => boolean
  /** Created at the first request: most servers have no source that makes requests. */
  #maps: RequestMaps | undefined
  #closed = false

  constructor(clock: Clock, poll: (source: SourceName) => boolean) {
    this.#clock = clock
    this.#poll = poll
  }

  /** Polls the source at a time (monotonic milliseconds). If there are several requests, the earliest wins. */
  request(source: SourceName, at: number): void {
    if (this.#closed) return
    this.#maps ??= { requested: new Map(), polledAt: new Map() }
    const { requested, polledAt } = this.#maps
    const clock = this.#clock
    const earliest = (polledAt.get(source) ?? Number.NEGATIVE_INFINITY) + spacingMs
    const time = Math.max(at, earliest, clock.now())
    const before = requested.get(source)
    if (before !== undefined && before.at <= time) return
    before?.cancel()
    const cancel = clock.after(time - clock.now(), () => {
      requested.delete(source)
      polledAt.set(source, clock.now())
      if (!this.#poll(source)) this.request(source, clock.now())
    })
    requested.set(source, { at: time, cancel })
  }

  close(): void {
    this.#closed = true
    for (const { cancel } of this.#maps?.requested.values() ?? []) cancel()
    this.#maps?.requested.clear()
  }
}
