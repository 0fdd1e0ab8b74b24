import type { Clock } from '../../clock.ts'
import type { SourceName } from '../sources/source.ts'

/** Minimum milliseconds between two requested polls of one source. */
const spacingMs = 1_000

/** Extra polls of single sources between the scheduled ones, requested by the sources themselves. */
export interface PollRequests {
  /** Polls the source at a time (monotonic milliseconds). If there are several requests, the earliest wins. */
  request(source: SourceName, at: number): void
  close(): void
}

interface RequestMaps {
  readonly requested: Map<SourceName, { readonly at: number; readonly cancel: () => void }>
  readonly polledAt: Map<SourceName, number>
}

/** @param poll polls the source; returns false if it is already being polled, and another poll is needed afterwards */
export function createPollRequests(clock: Clock, poll: (source: SourceName) => boolean): PollRequests {
  /** Created at the first request: most servers have no source that makes requests. */
  let maps: RequestMaps | undefined
  let closed = false

  function request(source: SourceName, at: number): void {
    if (closed) return
    maps ??= { requested: new Map(), polledAt: new Map() }
    const { requested, polledAt } = maps
    const earliest = (polledAt.get(source) ?? Number.NEGATIVE_INFINITY) + spacingMs
    const time = Math.max(at, earliest, clock.now())
    const before = requested.get(source)
    if (before !== undefined && before.at <= time) return
    before?.cancel()
    const cancel = clock.after(time - clock.now(), () => {
      requested.delete(source)
      polledAt.set(source, clock.now())
      if (!poll(source)) request(source, clock.now())
    })
    requested.set(source, { at: time, cancel })
  }

  return {
    request,
    close() {
      closed = true
      for (const { cancel } of maps?.requested.values() ?? []) cancel()
      maps?.requested.clear()
    },
  }
}
