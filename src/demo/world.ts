import { type Clock, repeat } from '../util/clock.ts'
import { createRandom } from './random.ts'
import { type DemoPlayer, offlineId, roster } from './roster.ts'
import { type Scenario, type ScenarioName, scenarios, warmUp } from './scenarios.ts'
import { TickTimes } from './tick-times.ts'

export type WorldEvent = { readonly type: 'joined' | 'left'; readonly player: DemoPlayer } | { readonly type: 'saving' | 'saved' }

export interface WorldOptions {
  readonly clock: Clock
  readonly seed: number
  readonly scenario: ScenarioName
  /** Number of players at the start. */
  readonly players: number
  readonly maxPlayers: number
  /** Seconds without players after which the server pauses; -1 for never. */
  readonly pauseWhenEmpty: number
}

const tickLength = 50
/** After a longer suspension in milliseconds, missed ticks are not made up for, as on a real server. */
const maxGapMs = 120_000
const autosaveTicks = 6_000

export type World = ReturnType<typeof createWorld>

/** Creates a simulated world. Its state depends only on the seed and the elapsed time. */
export function createWorld(options: WorldOptions) {
  const { clock, maxPlayers, pauseWhenEmpty } = options
  const random = createRandom(options.seed)
  const newPlayers = roster(createRandom(options.seed + 1))
  const dayOffset = 24_000 * random.between(2, 9)
  const begin = clock.now() - warmUp
  const times = new TickTimes(begin)
  const listeners = new Set<(event: WorldEvent) => void>()
  const knownPlayers: DemoPlayer[] = []
  let scenario: Scenario = scenarios[options.scenario]
  let online: DemoPlayer[] = []
  let gameTime = 24_000 * random.between(20, 90) + random.between(0, 12_000)
  let index = 0
  let tick = { start: begin, work: scenario.work(random, 0, 0) }
  let due = begin
  let emptyTicks = 0
  let paused = false
  let nextVisit = clock.now() + 1000 * random.between(3, 8)

  function emit(event: WorldEvent): void {
    for (const listener of listeners) listener(event)
  }

  function startTick(start: number): void {
    tick = { start, work: scenario.work(random, start - begin, index) }
  }

  function restart(): void {
    due = clock.now()
    startTick(due)
  }

  function newPlayer(): DemoPlayer {
    const player = newPlayers.next().value
    knownPlayers.push(player)
    return player
  }

  const anyone = (): DemoPlayer | undefined => online[random.between(0, online.length - 1)]

  function add(player: DemoPlayer): void {
    if (online.length >= maxPlayers) throw new Error(`the server is full (${maxPlayers} players)`)
    if (online.some(({ name }) => name === player.name)) throw new Error(`${player.name} is already online`)
    online = [...online, player]
    emptyTicks = 0
    if (paused) {
      paused = false
      restart()
    }
    emit({ type: 'joined', player })
  }

  function remove(player: DemoPlayer): void {
    online = online.filter((other) => other !== player)
    emit({ type: 'left', player })
  }

  /** Returns a player who was online before, or a new one. */
  function visitor(): DemoPlayer {
    const away = knownPlayers.filter((player) => !online.includes(player))
    return away[random.between(0, 2 * options.players)] ?? newPlayer()
  }

  function visit(now: number): void {
    nextVisit = now + 1000 * random.between(4, 20)
    const few = Math.max(1, Math.floor(options.players / 2))
    const many = Math.min(maxPlayers, Math.ceil(options.players * 1.5))
    const joins = random.next() < (online.length < options.players ? 0.7 : 0.3)
    const leaving = anyone()
    if (joins && online.length < many) add(visitor())
    else if (!joins && online.length > few && leaving !== undefined) remove(leaving)
  }

  function endTick(end: number): void {
    times.add(tick.work, end)
    index++
    if (!scenario.frozen) gameTime++
    emptyTicks = online.length === 0 ? emptyTicks + 1 : 0
    if (pauseWhenEmpty >= 0 && emptyTicks >= pauseWhenEmpty * (1000 / tickLength) && end >= begin + warmUp) paused = true
    due += tickLength
    // The game does not make up for ticks if it is more than two seconds behind.
    if (scenario.sprinting || end - due > 2_000) due = end
    startTick(Math.max(end, due))
    if (index % autosaveTicks === 0) save()
  }

  /** Simulates everything up to now. */
  function advance(): void {
    const now = clock.now()
    if (!paused && now - tick.start - tick.work > maxGapMs) restart()
    while (!paused && tick.start + tick.work <= now) endTick(tick.start + tick.work)
    if (scenario.busy && now >= nextVisit) visit(now)
  }

  function save(): void {
    emit({ type: 'saving' })
    emit({ type: 'saved' })
  }

  while (!scenario.paused && online.length < options.players) online.push(newPlayer())
  advance()
  emptyTicks = 0
  paused = scenario.paused === true
  const cancel = repeat(clock, tickLength, advance)

  return {
    maxPlayers,
    pauseWhenEmpty,
    /** Target ticks per second. */
    targetRate: 1000 / tickLength,
    /** The world's age in ticks: `time query gametime`. */
    gameTime() {
      advance()
      return gameTime
    },
    /** Ticks of daylight since the first morning; a day has 24,000. */
    dayTime() {
      advance()
      return gameTime - dayOffset
    },
    /** In the order in which they joined. */
    players() {
      advance()
      return online as readonly DemoPlayer[]
    },
    tickTimes() {
      advance()
      return times
    },
    /** Ticks per second over the last `seconds`, at most 900. */
    rate(seconds: number) {
      advance()
      return times.rate(seconds, clock.now())
    },
    state: () => ({ frozen: scenario.frozen === true, sprinting: scenario.sprinting === true, paused }),
    /**
     * Lets the named player join, or the next one.
     * @throws Error if the server is full or the player is already online
     */
    join(name?: string) {
      advance()
      const player = name === undefined ? visitor() : { name, id: offlineId(name) }
      add(player)
      return player
    },
    /** Lets the named player leave, or a random one. Returns undefined if there is none. */
    leave(name?: string) {
      advance()
      const player = name === undefined ? anyone() : online.find((other) => other.name === name)
      if (player !== undefined) remove(player)
      return player
    },
    /** Switches to another scenario. */
    play(name: ScenarioName) {
      advance()
      scenario = scenarios[name]
      if (scenario.paused) for (const player of online) remove(player)
      paused = scenario.paused === true
      restart()
    },
    save,
    /** Calls the action when the main thread is free: immediately, or after the work of the current tick. */
    whenFree(action: () => void) {
      advance()
      const running = tick
      // Checked again when the timer fires, since a timer may fire up to a millisecond early.
      function attempt(): void {
        advance()
        const now = clock.now()
        if (paused || tick !== running || now <= running.start) action()
        else clock.after(Math.min(1_000, Math.ceil(running.start + running.work - now)), attempt)
      }
      attempt()
    },
    /** Calls the listener with each event. */
    subscribe(listener: (event: WorldEvent) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      cancel()
      listeners.clear()
    },
  }
}
