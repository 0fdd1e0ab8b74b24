/** Long enough that one tick more or less does not show, short enough to follow the server. */
const window = 10_000
/** Polls are not exactly on time; the reading that began the window still counts. */
const slack = 500
/** A counter has stood still once it did so for this many ms: at one tick per second it may for almost 1000. */
const pauseAfter = 2_000

/** The tick counter at one moment. */
export interface TickReading {
  readonly ticks: number
  /** Monotonic milliseconds at which the reply arrived. */
  readonly at: number
  /** Absent where it was not read. */
  readonly playersOnline?: number | undefined
  readonly frozen?: boolean | undefined
  readonly sprinting?: boolean | undefined
  /** Ticks per second that the server aims at. */
  readonly target?: number | undefined
}

export interface TickRate {
  /** Ticks per second, not capped. Absent until two readings, and while the counter says nothing of how fast the server is. */
  readonly tickRate?: number
  readonly tickPaused?: boolean
}

/**
 * Measures the tick rate from readings of the counter, in the order in which they were made. The moment of a reading is
 * the arrival of its reply: the server answers a command as soon as it has run, but may let it wait, so that the way back
 * is the shorter and steadier part of the round trip.
 */
export function createTickRate(): (reading: TickReading) => TickRate {
  let readings: TickReading[] = []
  let movedAt = 0
  let paused = false
  let rate: number | undefined

  function restart(reading: TickReading): TickRate {
    readings = [reading]
    rate = undefined
    return {}
  }

  return (counted) => {
    const last = readings.at(-1)
    const moved = last === undefined || counted.ticks !== last.ticks
    const reading = { ...counted, ...carriedMode(last, counted, moved) }
    if (moved) movedAt = reading.at
    if (last === undefined || reading.ticks < last.ticks || reading.at <= last.at || !sameMode(last, reading)) {
      paused = false
      return restart(reading)
    }
    if (reading.frozen) return { ...restart(reading), tickPaused: false }
    if (!moved && reading.playersOnline !== undefined && reading.playersOnline === 0) {
      paused ||= reading.at - movedAt >= pauseAfter
      if (paused) return { ...restart(reading), tickPaused: true }
    }
    // An unknown number of players leaves both open, a pause and a server that hangs.
    if (!moved && reading.playersOnline === undefined) return restart(reading)
    if (paused) {
      // Part of the time since the last reading was still a pause.
      paused = false
      return moved ? { ...restart(reading), tickPaused: false } : restart(reading)
    }
    if (reading.playersOnline === 0 && fell(last, reading, rate)) return restart(reading)
    readings.push(reading)
    while (readings.length > 2 && reading.at - (readings[0]?.at ?? 0) > window + slack) readings.shift()
    const [first = last] = readings
    rate = ((reading.ticks - first.ticks) * 1000) / (reading.at - first.at)
    return { tickRate: rate, tickPaused: false }
  }
}

/** The mode is not read in every poll of a slow server: until it is, that of the reading before holds. A frozen game does not tick. */
function carriedMode(last: TickReading | undefined, reading: TickReading, moved: boolean): Partial<TickReading> {
  return {
    frozen: reading.frozen ?? (moved && last?.frozen ? false : last?.frozen),
    sprinting: reading.sprinting ?? last?.sprinting,
    target: reading.target ?? last?.target,
  }
}

const isSame = <T>(a: T | undefined, b: T | undefined): boolean => a === undefined || b === undefined || a === b

const sameMode = (a: TickReading, b: TickReading): boolean =>
  isSame(a.frozen, b.frozen) && isSame(a.sprinting, b.sprinting) && isSame(a.target, b.target)

/** With nobody on, a sudden fall may be the beginning of a pause: only the next reading shows it. */
function fell(last: TickReading, reading: TickReading, rate: number | undefined): boolean {
  if (rate === undefined) return false
  const expected = (rate * (reading.at - last.at)) / 1000
  return expected - (reading.ticks - last.ticks) > Math.max(2, expected / 10)
}
