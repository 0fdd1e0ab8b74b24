import { describe, expect, it } from 'vitest'
import { TickRateMeter, type TickReading } from '../../../src/game/watcher/tick-rate.ts'

const run = (readings: readonly TickReading[]) => {
  const meter = new TickRateMeter()
  return readings.map((reading) => meter.add(reading))
}
/** A reading every 5 s, the counter as given. */
const every5s = (ticks: readonly number[], rest: Partial<TickReading> = { playersOnline: 3 }) =>
  run(ticks.map((count, index) => ({ ticks: count, at: 1_000 + index * 5_000, ...rest })))
const running = (tickRate: number) => ({ tickRate, tickPaused: false })

describe('the tick rate', () => {
  it('is absent until two readings, then the difference over time', () => {
    expect(every5s([100, 200, 300])).toEqual([{}, running(20), running(20)])
    expect(every5s([100, 150, 200])).toEqual([{}, running(10), running(10)])
  })

  it('is not capped', () => {
    expect(every5s([0, 1250], { playersOnline: 1, sprinting: true }).at(-1)).toEqual(running(250))
  })

  it('slides over about ten seconds', () => {
    expect(every5s([0, 100, 200, 250, 300, 350]).map(({ tickRate }) => tickRate)).toEqual([undefined, 20, 20, 15, 10, 10])
  })

  it('uses the last two readings if polls are further apart', () => {
    const readings = [0, 1200, 1800].map((ticks, index) => ({ ticks, at: index * 60_000, playersOnline: 1 }))
    expect(run(readings)).toEqual([{}, running(20), running(10)])
  })

  it('of a lagging server with players falls to zero', () => {
    expect(every5s([0, 100, 100, 100]).map(({ tickRate }) => tickRate)).toEqual([undefined, 20, 10, 0])
  })

  it('restarts when the counter decreases', () => {
    expect(every5s([500, 600, 50, 150])).toEqual([{}, running(20), {}, running(20)])
  })
})

describe('a rate that the server cannot reach', () => {
  const at = (seconds: number, ticks: number, rest: Partial<TickReading> = {}) => ({
    ...{ ticks, at: 1_000 * seconds, playersOnline: 3 },
    ...rest,
  })
  const rates = (readings: readonly TickReading[]) => run(readings).map(({ tickRate }) => tickRate)

  it('is that of another counter', () => {
    expect(rates([at(0, 100), at(0.1, 51_742), at(5.1, 51_842)])).toEqual([undefined, undefined, 20])
  })

  it('exceeds 20 if the target is not known, and the target if it is', () => {
    expect(rates([at(0, 0), at(5, 300)])).toEqual([undefined, undefined])
    const target = { target: 100 }
    expect(rates([at(0, 0, target), at(5, 500, target)])).toEqual([undefined, 100])
    expect(rates([at(0, 0, target), at(5, 900, target)])).toEqual([undefined, undefined])
  })

  it('is not shown again and again', () => {
    expect(rates([0, 5, 10, 15, 20].map((seconds) => at(seconds, 25 * seconds))).slice(2)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('is not that of a server that runs the ticks it was behind', () => {
    const caughtUp = rates([at(0, 0), at(5, 100), at(10, 160), at(15, 295), at(20, 395)])
    expect(caughtUp.map((rate) => rate !== undefined)).toEqual([false, true, true, true, true])
  })

  it('is exceeded by the ticks that it was behind, and by a quarter of a second and a tick for late replies', () => {
    const minutes = (...counts: readonly number[]) => {
      const ticksAt = (index: number) => counts.slice(0, index).reduce((sum, count) => sum + count, 5_000)
      return run([0, ...counts].map((_, index) => ({ ticks: ticksAt(index), at: 1e6 + index * 60_000, playersOnline: 3 })))
    }
    expect(minutes(1_246).at(-1)?.tickRate).toBeCloseTo(20.77, 1)
    expect(minutes(1_247)).toStrictEqual([{}, { tickPaused: false }])
    // It has run those that it was behind.
    expect(minutes(1_240, 1_206).at(-1)?.tickRate).toBeCloseTo(20.1, 1)
    expect(minutes(1_240, 1_207).at(-1)).toStrictEqual({ tickPaused: false })
    expect(minutes(1_220, 1_226).at(-1)?.tickRate).toBeCloseTo(20.4, 1)
    expect(minutes(1_220, 1_227).at(-1)).toStrictEqual({ tickPaused: false })
    // It skips those before two seconds.
    expect(minutes(600, 1_247).at(-1)).toStrictEqual({ tickPaused: false })
  })

  it('is not that of two readings at the same time', () => {
    expect(run([at(5, 100), at(5, 103), at(10, 203)])).toStrictEqual([{}, {}, running(20)])
  })

  it('is possible in a sprint', () => {
    const sprinting = { sprinting: true }
    expect(rates([at(0, 0, sprinting), at(5, 5_000, sprinting)])).toEqual([undefined, 1_000])
  })
})

it('is not measured across an interruption', () => {
  const meter = new TickRateMeter()
  meter.add({ ticks: 0, at: 0, playersOnline: 3 })
  meter.interrupt()
  expect(meter.add({ ticks: 60, at: 5_000, playersOnline: 3 })).toEqual({})
  expect(meter.add({ ticks: 160, at: 10_000, playersOnline: 3 })).toEqual(running(20))
})

describe('the mode of the game', () => {
  it('that is not read in every poll does not restart the measurement', () => {
    const [players, mode] = [{ playersOnline: 3 }, { frozen: false, sprinting: false, target: 20 }]
    const readings = [{}, mode, {}, mode].map((known, index) => ({ ...players, ...known, ticks: index * 5, at: index * 5_000 }))
    expect(run(readings)).toEqual([{}, running(1), running(1), running(1)])
  })

  it('has changed if a frozen counter advances', () => {
    const readings = [
      { ticks: 100, at: 0, playersOnline: 3, frozen: true },
      { ticks: 150, at: 5_000, playersOnline: 3 },
      { ticks: 250, at: 10_000, playersOnline: 3 },
    ]
    expect(run(readings)).toEqual([{}, {}, running(20)])
  })
})

describe('a counter that does not advance', () => {
  it('without players is a pause, after which the measurement restarts', () => {
    expect(every5s([100, 100, 100, 140, 240], { playersOnline: 0 })).toEqual([
      {},
      { tickPaused: true },
      { tickPaused: true },
      { tickPaused: false },
      running(20),
    ])
  })

  it('between two readings is not reported as lag if it turns out to be a pause', () => {
    expect(every5s([0, 100, 200, 240, 240], { playersOnline: 0 })).toEqual([
      {},
      running(20),
      running(20),
      {},
      { tickPaused: true },
    ])
  })

  it('is reported as lag without players if it continues in the next reading', () => {
    expect(every5s([0, 100, 200, 240, 280], { playersOnline: 0 }).slice(3)).toEqual([{}, running(8)])
  })

  it('yields no rate while the number of players is unknown', () => {
    expect(every5s([100, 100, 100], {})).toEqual([{}, {}, {}])
  })

  it('is a pause after two seconds since its last tick', () => {
    const at = (seconds: number, ticks: number) => ({ ticks, at: 1_000 * seconds, playersOnline: 0, target: 1 })
    expect(run([at(60, 5), at(61.999, 5)]).at(-1)?.tickPaused).toBe(false)
    expect(run([at(60, 5), at(62, 5)]).at(-1)?.tickPaused).toBe(true)
    expect(run([at(60, 5), at(70, 15), at(71, 15)]).at(-1)?.tickPaused).not.toBe(true)
  })

  it('is no pause of a game that was frozen when that was last read', () => {
    const frozen = { ticks: 5, at: 1_000, playersOnline: 0, frozen: true }
    expect(run([frozen, { ...frozen, at: 6_000, frozen: undefined }]).at(-1)).toEqual({ tickPaused: false })
  })

  it('almost, without players, may be the start of a pause: a tenth of its ticks is missing', () => {
    expect(every5s([0, 100, 190], { playersOnline: 0 }).at(-1)).toEqual(running(19))
    expect(every5s([0, 100, 189], { playersOnline: 0 }).at(-1)).toStrictEqual({})
  })

  it('for a moment is not a pause', () => {
    const readings = [0, 500, 1_000].map((at) => ({ ticks: 7, at, playersOnline: 0, target: 1 }))
    expect(run(readings).some(({ tickPaused }) => tickPaused)).toBe(false)
  })

  it('in a frozen game is neither lag nor a pause, and unfreezing restarts the measurement', () => {
    const at = (index: number) => 1_000 + index * 5_000
    const frozen = [0, 100, 100, 100, 150, 250].map((ticks, index) => ({
      ticks,
      at: at(index),
      playersOnline: 0,
      frozen: index === 2 || index === 3,
    }))
    expect(run(frozen)).toEqual([{}, running(20), {}, { tickPaused: false }, {}, running(20)])
  })
})
