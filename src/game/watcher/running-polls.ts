import type { Clock } from '../../clock.ts'
import { SourceError } from '../errors.ts'
import type { Reading, Source } from '../sources/source.ts'
import type { Deadline } from './deadline.ts'

/** Milliseconds past the deadline in which a source may hand over what it has read. Then the poll ends without it. */
const graceMs = 100

/** The polls of a server's sources that have not ended. The only place where they are cancelled. */
export interface RunningPolls {
  isRunning(source: Source): boolean
  readonly size: number
  /**
   * Polls a source once, and ends the poll at the deadline even if the source ignores its signal.
   * @throws SourceError `timeout`, `aborted`, or what the source throws
   */
  run(source: Source, deadline: Deadline): Promise<Reading>
  /** Cancels the polls of all sources but these: the others have been closed. */
  keepOnly(sources: readonly Source[]): void
  /** Cancels all. */
  close(): void
}

export function createRunningPolls(clock: Clock): RunningPolls {
  const running = new Map<Source, (reason: SourceError) => void>()

  function cancelAll(sources: readonly Source[]): void {
    for (const source of sources) running.get(source)?.(new SourceError('aborted', `${source.target}: no longer watched`))
  }

  return {
    isRunning: (source) => running.has(source),
    get size() {
      return running.size
    },
    run(source, deadline) {
      const controller = new AbortController()
      let cancelTimer = () => {}
      return new Promise<Reading>((resolve, reject) => {
        running.set(source, (reason) => {
          controller.abort(reason)
          reject(reason)
        })
        cancelTimer = clock.after(deadline.left(), () => {
          const late = new SourceError('timeout', `${source.target}: no complete answer within ${deadline.timeoutMs} ms`)
          cancelTimer = clock.after(graceMs, () => reject(late))
          controller.abort(late)
        })
        source.poll(controller.signal, deadline.at).then(resolve, reject)
      }).finally(() => {
        running.delete(source)
        cancelTimer()
      })
    },
    keepOnly(sources) {
      const kept = new Set(sources)
      cancelAll([...running.keys()].filter((source) => !kept.has(source)))
    },
    close: () => cancelAll([...running.keys()]),
  }
}
