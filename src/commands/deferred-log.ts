import type { Log } from '../util/log.ts'

export type DeferredLog = ReturnType<typeof createDeferredLog>

/** Creates a log that buffers its lines, so that the first line at a start is that of the service. */
export function createDeferredLog(target: Log) {
  let buffered: (() => void)[] | undefined = []
  const deferred =
    (level: keyof Log): Log['info'] =>
    (...entry: readonly unknown[]) => {
      const write = () => Reflect.apply(target[level], target, entry)
      if (buffered === undefined) write()
      else buffered.push(write)
    }
  const log: Log = { debug: deferred('debug'), info: deferred('info'), warn: deferred('warn'), error: deferred('error') }
  return {
    log,
    /** Writes the buffered lines in order; later lines are written immediately. */
    release(): void {
      const entries = buffered ?? []
      buffered = undefined
      for (const write of entries) write()
    },
  }
}
