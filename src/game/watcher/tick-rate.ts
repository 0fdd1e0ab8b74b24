/** Milliseconds over which the rate is measured: long enough that a single tick has little effect, short enough to follow changes. */
const windowMs = 10_000
/** Tolerance in milliseconds for polls that are not exactly on time. */
const slackMs = 500
/** Milliseconds without a tick after which the server is paused: at one tick per second there may be almost 1000. */
const pauseAfterMs = 2_000
/** Target ticks per second of a server that does not report it. */
const defaultTarget = 20
/** Seconds that a server may be behind: it runs these ticks as fast as it can, and skips those before them. */
const maxBehindSeconds = 2
/** Tolerance in seconds for replies that arrive late. */
const lateSeconds = 0.25

/** The tick counter at one moment. */
export interface TickReading {
  readonly ticks: number
  /** Monotonic milliseconds at which the reply arrived. */
  readonly at: number
  /** Absent if it was not read. */
  readonly playersOnline?: number | undefined
  readonly frozen?: boolean | undefined
  readonly sprinting?: boolean | undefined
  /** Target ticks per second. */
  readonly target?: number | undefined
}

export interface TickRate {
  /** Ticks per second, not capped. Absent before the second reading, and while the server is frozen or paused. */
  readonly tickRate?: number
  readonly tickPaused?: boolean
}

interface Counter extends Pick<TickReading, 'ticks' | 'at'> {
  /** The number of ticks that the server may be behind, at most. */
  readonly behind: number
}

/** The counters before the last reading, oldest first. */
type Counters = readonly Counter[]

const noCounters: Counters = []

/**
 * Measures the tick rate from consecutive readings of the tick counter. The time of a reading is the arrival of its reply: a command
 * may wait before it runs, but the reply is sent immediately, so the way back is the shorter and steadier part of the round trip.
 */
export class TickRateMeter {
  #earlier = noCounters
  #last: TickReading | undefined
  /** The number of ticks that the server may be behind at the last reading, at most. */
  #behind = 0
  #movedAt = 0
  #paused = false
  #rate: number | undefined

  /** Adds a reading. Returns the rate up to it. */
  add(counted: TickReading): TickRate {
    const last = this.#last
    const moved = last === undefined || counted.ticks !== last.ticks
    const reading = withMode(counted, last, moved)
    if (moved) this.#movedAt = reading.at
    if (last === undefined || reading.ticks < last.ticks || reading.at <= last.at || !sameMode(last, reading)) {
      this.#paused = false
      return this.#restart(reading)
    }
    if (reading.frozen) return this.#restart(reading, false)
    if (!moved && reading.playersOnline === 0) {
      this.#paused ||= reading.at - this.#movedAt >= pauseAfterMs
      if (this.#paused) return this.#restart(reading, true)
    }
    // If the number of players is unknown, the server may be paused or hung.
    if (!moved && reading.playersOnline === undefined) return this.#restart(reading)
    if (this.#paused) {
      // The server was still paused for part of the time since the last reading.
      this.#paused = false
      return this.#restart(reading, moved ? false : undefined)
    }
    if (reading.playersOnline === 0 && hasDropped(last, reading, this.#rate)) return this.#restart(reading)
    const before = { ticks: last.ticks, at: last.at, behind: this.#behind }
    const earlier = this.#earlier.concat(before)
    // If polls are further apart, this is -1 and only the last one remains.
    const from = earlier.findIndex((counter) => reading.at - counter.at <= windowMs + slackMs)
    const window = from === 0 ? earlier : earlier.slice(from)
    const [first = before] = window
    if (!isPossible(first, reading)) {
      const restarted = this.#restart(reading, false)
      // It was not behind: otherwise the same jump would be possible again.
      this.#behind = 0
      return restarted
    }
    this.#last = reading
    this.#earlier = window
    this.#behind = behindAt(before, reading)
    this.#rate = ((reading.ticks - first.ticks) * 1000) / (reading.at - first.at)
    return { tickRate: this.#rate, tickPaused: false }
  }

  /** The next reading is not compared with earlier ones: the counter may be that of another run of the server. */
  interrupt(): void {
    this.#last = undefined
  }

  #restart(reading: TickReading, tickPaused?: boolean): TickRate {
    this.#last = reading
    this.#earlier = noCounters
    this.#behind = maxBehind(reading)
    this.#rate = undefined
    return tickPaused === undefined ? {} : { tickPaused }
  }
}

const targetOf = ({ target = defaultTarget }: TickReading): number => target

const maxBehind = (reading: TickReading): number => maxBehindSeconds * targetOf(reading)

/** The number of ticks that the server may be behind after the ticks since an earlier reading. */
function behindAt(before: Counter, reading: TickReading): number {
  const due = (targetOf(reading) * (reading.at - before.at)) / 1000
  return Math.min(maxBehind(reading), Math.max(0, before.behind + due - (reading.ticks - before.ticks)))
}

/** Whether a server can run these ticks in this time: those that are due, and those that it is behind. */
function isPossible(first: Counter, reading: TickReading): boolean {
  if (reading.sprinting) return true
  const target = targetOf(reading)
  const due = (target * (reading.at - first.at)) / 1000
  return reading.ticks - first.ticks <= due + first.behind + target * lateSeconds + 1
}

/** A slow server's mode is not read in every poll; until then, the previous one is used. A frozen game does not tick. */
function withMode(reading: TickReading, last: TickReading | undefined, moved: boolean): TickReading {
  return {
    ticks: reading.ticks,
    at: reading.at,
    playersOnline: reading.playersOnline,
    frozen: reading.frozen ?? (moved && last?.frozen ? false : last?.frozen),
    sprinting: reading.sprinting ?? last?.sprinting,
    target: reading.target ?? last?.target,
  }
}

/** Whether what was known of the mode before still holds. */
const sameMode = (last: TickReading, reading: TickReading): boolean =>
  (['frozen', 'sprinting', 'target'] as const).every((name) => last[name] === undefined || last[name] === reading[name])

/** Without players, a sudden drop may be the start of a pause, which only the next reading shows. */
function hasDropped(last: TickReading, reading: TickReading, rate: number | undefined): boolean {
  if (rate === undefined) return false
  const expected = (rate * (reading.at - last.at)) / 1000
  return expected - (reading.ticks - last.ticks) > Math.max(2, expected / 10)
}
