// The global of the same name is a getter, which measurably slows a request.
import { performance } from 'node:perf_hooks'

/** Source of time. Injected, so that tests advance it manually instead of sleeping. */
export interface Clock {
  /** Monotonic milliseconds since an arbitrary start; never goes back. */
  now(): number
  /** Unix time in milliseconds. */
  wall(): number
  /** Calls `action` once after `delay` ms; the function returned cancels it. Never keeps the process alive. */
  after(delay: number, action: () => void): () => void
}

/** Converts a measured duration from milliseconds to seconds, rounded to microseconds: the other digits are noise. */
export const toSeconds = (milliseconds: number): number => Math.round(milliseconds * 1_000) / 1e6

/** The longest delay of a timer of Node.js, milliseconds: after a longer one it fires at once. */
export const maxTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(delay, action) {
    const timer = setTimeout(action, delay)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Calls `action` every `ms` milliseconds, the first time after that long; the function returned ends it. */
export function repeat(clock: Pick<Clock, 'after'>, ms: number, action: () => void): () => void {
  let cancel = () => {}
  const schedule = () => {
    cancel = clock.after(ms, () => {
      schedule()
      action()
    })
  }
  schedule()
  return () => cancel()
}

/** The system clock with a monotonic time that is comparable between processes if their wall clocks agree: it counts from 1970. */
export const sharedClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() }
