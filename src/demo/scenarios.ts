import type { Random } from './random.ts'

/** Milliseconds of ticks that are simulated before the start, so that averages are available from the beginning. */
export const warmUp = 61_000

/** How a simulated world behaves. */
export interface Scenario {
  readonly meaning: string
  /**
   * Returns the milliseconds of work in one tick.
   * @param elapsed milliseconds since the start of the world, {@link warmUp} before that of the server
   * @param index index of the tick
   */
  work(random: Random, elapsed: number, index: number): number
  /** Players join and leave. */
  readonly busy?: true
  /** As after `/tick freeze`: the game time does not advance. */
  readonly frozen?: true
  /** As after `/tick sprint`: ticks run without pauses. */
  readonly sprinting?: true
  /** Empty and paused until a player joins. */
  readonly paused?: true
}

export type ScenarioName = 'normal' | 'steady' | 'lagging' | 'tps10' | 'frozen' | 'sprinting' | 'paused' | 'hung'

const calm: Scenario['work'] = (random) => 8 + 4 * random.next()

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  normal: {
    meaning: 'players join and leave, 20 ticks per second, 6 s of lag every 90 s',
    busy: true,
    work(random, elapsed) {
      if ((elapsed + 74_000) % 90_000 >= 84_000) return 70 + 40 * random.next()
      return random.next() < 0.002 ? 150 + 250 * random.next() : 8 + 10 * random.next()
    },
  },
  steady: { meaning: '20 ticks per second without lag; no players join or leave', work: calm },
  lagging: { meaning: 'about 12.5 ticks per second: the server cannot keep up', work: (random) => 60 + 40 * random.next() },
  tps10: {
    meaning: 'exactly 10 ticks per second',
    // Each pair of ticks takes 200 ms, so the rate is exact while single ticks vary.
    work(_random, _elapsed, index) {
      const deviation = 8 * (((index >> 1) * 0.618034) % 1)
      return index % 2 === 0 ? 100 - deviation : 100 + deviation
    },
  },
  frozen: {
    meaning: 'frozen by /tick freeze: the game time does not advance',
    frozen: true,
    work: (random) => 2 + random.next(),
  },
  sprinting: {
    meaning: 'sprinting by /tick sprint: about 250 ticks per second',
    sprinting: true,
    work: (random) => 3 + 2 * random.next(),
  },
  hung: {
    meaning: 'the main thread is hung: the status is still sent, commands are not answered',
    work: (random, elapsed, index) => (elapsed < warmUp ? calm(random, elapsed, index) : 3_600_000),
  },
  paused: { meaning: 'no players are online and the server is paused', paused: true, work: calm },
}

export const scenarioNames = Object.keys(scenarios) as readonly ScenarioName[]
