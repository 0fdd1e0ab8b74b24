import type { Log } from '../log.ts'

export interface DeferredLog {
  readonly log: Log
  /** Writes what was logged so far, in order; from now on everything is logged at once. */
  release(): void
}

/** A log that holds its lines back, so that the first line of a start can be about the whole service. */
export function createDeferredLog(target: Log): DeferredLog {
  let held: (() => void)[] | undefined = []
  const write = (entry: () => void): void => {
    if (held === undefined) entry()
    else held.push(entry)
  }
  const deferred =
    (level: keyof Log): Log['info'] =>
    (...entry: readonly unknown[]) =>
      write(() => Reflect.apply(target[level], target, entry))
  return {
    log: { debug: deferred('debug'), info: deferred('info'), warn: deferred('warn'), error: deferred('error') },
    release() {
      const entries = held ?? []
      held = undefined
      for (const entry of entries) entry()
    },
  }
}
