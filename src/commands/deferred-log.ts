import type { Log } from '../util/log.ts'

export interface DeferredLog {
  readonly log: Log
  /** Writes the buffered lines in order; later lines are written immediately. */
  release(): void
}

/** Creates a log that buffers its lines, so that the first line at a start is that of the service. */
export function createDeferredLog(target: Log): DeferredLog {
  let buffered: (() => void)[] | undefined = []
  const write = (entry: () => void): void => {
    if (buffered === undefined) entry()
    else buffered.push(entry)
  }
  const deferred =
    (level: keyof Log): Log['info'] =>
    (...entry: readonly unknown[]) =>
      write(() => Reflect.apply(target[level], target, entry))
  return {
    log: { debug: deferred('debug'), info: deferred('info'), warn: deferred('warn'), error: deferred('error') },
    release() {
      const entries = buffered ?? []
      buffered = undefined
      for (const entry of entries) entry()
    },
  }
}
