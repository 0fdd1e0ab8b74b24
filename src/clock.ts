/** Time as the service sees it. Injected, so that tests move it by hand instead of sleeping. */
export interface Clock {
  /** Monotonic milliseconds since an arbitrary start; never goes back. */
  now(): number
  /** Unix time in milliseconds. */
  wall(): number
  /** Calls `action` once after `delay` ms; the function returned cancels it. Never keeps the process alive. */
  after(delay: number, action: () => void): () => void
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(delay, action) {
    const timer = setTimeout(action, delay)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** The system clock with a monotonic time that processes, as far as their wall clocks agree, have in common: it counts from 1970. */
export const sharedClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() }
