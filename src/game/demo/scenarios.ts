import type { Random } from './random.ts'

/** How a simulated world behaves. */
export interface Scenario {
  readonly meaning: string
  /**
   * Milliseconds of work in one tick.
   * @param elapsed milliseconds since the world began
   * @param index which tick since then
   */
  work(random: Random, elapsed: number, index: number): number
  /** Players come and go by themselves. */
  readonly busy?: true
  /** As after `/tick freeze`: the game time stands still. */
  readonly frozen?: true
  /** As after `/tick sprint`: a tick follows the other without a pause. */
  readonly sprinting?: true
  /** Begins empty and paused, until somebody joins. */
  readonly paused?: true
}

export type ScenarioName = 'normal' | 'steady' | 'lagging' | 'tps10' | 'frozen' | 'sprinting' | 'paused' | 'hung'

const calm: Scenario['work'] = (random) => 8 + 4 * random.next()

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  normal: {
    meaning: 'players come and go, 20 ticks a second, six seconds of lag every minute and a half',
    busy: true,
    work(random, elapsed) {
      if ((elapsed + 74_000) % 90_000 >= 84_000) return 70 + 40 * random.next()
      return random.next() < 0.002 ? 150 + 250 * random.next() : 8 + 10 * random.next()
    },
  },
  steady: { meaning: '20 ticks a second without lag; nobody comes or goes', work: calm },
  lagging: { meaning: 'about 12.5 ticks a second: the server cannot keep up', work: (random) => 60 + 40 * random.next() },
  tps10: {
    meaning: 'exactly 10 ticks a second',
    // Two neighbours always take 200 ms together, so the rate is exact while the single ticks still vary.
    work(_random, _elapsed, index) {
      const deviation = 8 * (((index >> 1) * 0.618034) % 1)
      return index % 2 === 0 ? 100 - deviation : 100 + deviation
    },
  },
  frozen: { meaning: 'frozen by /tick freeze: the game time stands still', frozen: true, work: (random) => 2 + random.next() },
  sprinting: {
    meaning: 'sprinting by /tick sprint: about 250 ticks a second',
    sprinting: true,
    work: (random) => 3 + 2 * random.next(),
  },
  hung: {
    meaning: 'the main thread is stuck: the status still answers, commands do not',
    work: (random, elapsed, index) => (elapsed < 61_000 ? calm(random, elapsed, index) : 3_600_000),
  },
  paused: { meaning: 'nobody is on and the server has paused', paused: true, work: calm },
}

export const scenarioNames = Object.keys(scenarios) as readonly ScenarioName[]
