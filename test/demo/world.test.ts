import { describe, expect, it } from 'vitest'
import { createWorld, type WorldEvent, type WorldOptions } from '../../src/demo/world.ts'
import { type ManualClock, manualClock } from '../helpers/manual-clock.ts'

function start(options: Partial<WorldOptions> = {}, clock: ManualClock = manualClock()) {
  const world = createWorld({ clock, seed: 7, scenario: 'steady', players: 4, maxPlayers: 20, pauseWhenEmpty: 60, ...options })
  return { clock, world }
}

async function ticksIn(milliseconds: number, options: Partial<WorldOptions>): Promise<number> {
  const { clock, world } = start(options)
  const before = world.gameTime()
  await clock.advance(milliseconds)
  const ticks = world.gameTime() - before
  world.close()
  return ticks
}

describe('the rate of the demo world', () => {
  it.each([
    ['steady', 200, 0],
    ['tps10', 100, 1],
    ['lagging', 125, 8],
    ['sprinting', 2500, 60],
    ['frozen', 0, 0],
    ['paused', 0, 0],
    ['hung', 0, 0],
  ] as const)('%s makes %i ticks in 10 s, give or take %i', async (scenario, ticks, tolerance) => {
    expect(Math.abs((await ticksIn(10_000, { scenario })) - ticks)).toBeLessThanOrEqual(tolerance)
  })

  it('does not depend on how often the clock is read', async () => {
    const clock = manualClock()
    const { world } = start({ clock })
    const before = world.gameTime()
    await clock.advance(100_000)
    expect(world.gameTime() - before).toBe(2_000)
  })

  it('makes up for a short lag with faster ticks, as the game does', async () => {
    const { clock, world } = start({ scenario: 'lagging' })
    await clock.advance(1_000)
    world.play('steady')
    const before = world.gameTime()
    await clock.advance(10_000)
    expect(world.gameTime() - before).toBeGreaterThanOrEqual(200)
  })
})

describe('the demo world', () => {
  it('is determined by its seed', async () => {
    async function history(seed: number) {
      const { clock, world } = start({ seed, scenario: 'normal' })
      const seen: string[] = []
      world.subscribe((event) => {
        if ('player' in event) seen.push(`${event.type} ${event.player.name} ${event.player.id}`)
      })
      await clock.advance(300_000)
      return { seen, online: world.players(), ticks: world.gameTime(), summary: world.tickTimes().summary(1200) }
    }
    const [one, again, other] = await Promise.all([history(1), history(1), history(2)])
    expect(one.seen.length).toBeGreaterThan(10)
    expect(one).toEqual(again)
    expect(one.seen).not.toEqual(other.seen)
  })

  it('uses the offline-mode UUID of a name', () => {
    const { world } = start()
    expect(world.join('Notch')).toEqual({ name: 'Notch', id: 'b50ad385-829d-3141-a216-7e7d7539ba7f' })
    world.leave('Notch')
    expect(world.join('Notch').id).toBe('b50ad385-829d-3141-a216-7e7d7539ba7f')
  })

  it('reports joins and leaves, and rejects players who are online or exceed the maximum', () => {
    const { world } = start({ players: 1, maxPlayers: 2 })
    const events: WorldEvent[] = []
    world.subscribe((event) => events.push(event))
    const player = world.join()
    expect(() => world.join()).toThrow('full')
    world.leave(player.name)
    const [left] = world.players()
    expect(() => world.join(left?.name)).toThrow('already online')
    expect(events).toEqual([
      { type: 'joined', player },
      { type: 'left', player },
    ])
    expect(world.leave('Nobody')).toBeUndefined()
  })

  it('pauses when it has been empty for long enough, and resumes when a player joins', async () => {
    const { clock, world } = start({ players: 1, pauseWhenEmpty: 10 })
    world.leave()
    await clock.advance(9_900)
    expect(world.state().paused).toBe(false)
    await clock.advance(200)
    expect(world.state().paused).toBe(true)
    const stopped = world.gameTime()
    await clock.advance(60_000)
    expect(world.gameTime()).toBe(stopped)
    world.join()
    await clock.advance(1_000)
    expect(world.gameTime() - stopped).toBeGreaterThanOrEqual(19)
  })

  it('records its last ticks: 100 for the percentiles, a minute for the averages', async () => {
    const { clock, world } = start({ scenario: 'tps10' })
    expect(world.tickTimes().summary(100).mean).toBeCloseTo(100, 1)
    expect(world.tickTimes().sorted()).toHaveLength(100)
    await clock.advance(120_000)
    expect(world.rate(60)).toBeCloseTo(10, 1)
  })

  it('runs actions immediately if the main thread is free, otherwise after the current tick', async () => {
    const { clock, world } = start({ scenario: 'steady' })
    await clock.advance(1_003)
    let called = 0
    world.whenFree(() => called++)
    expect(called).toBe(0)
    await clock.advance(12)
    expect(called).toBe(1)
    world.whenFree(() => called++)
    expect(called).toBe(2)
  })

  it('saves every 6,000 ticks, and may be read meanwhile', async () => {
    const { clock, world } = start()
    const seen: string[] = []
    world.subscribe(({ type }) => seen.push(`${type} ${world.gameTime() > 0}`))
    await clock.advance(300_000)
    expect(seen).toEqual(['saving true', 'saved true'])
  })

  it('leaves no timer', () => {
    const { clock, world } = start()
    world.close()
    expect(clock.pending).toBe(0)
  })
})
