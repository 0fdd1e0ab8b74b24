import { type Clock, maxTimerMs } from '../../util/clock.ts'
import { createPauses, type Pauses } from '../../util/pauses.ts'

/** Resolution in milliseconds: times are rounded up to a multiple of it. */
const tickMs = 5
/**
 * Number of actions in one batch. The next batch follows in a microtask: what an action starts, such as a connection, runs in
 * microtasks too, so that a slice measures it.
 */
const batchSize = 4
/** Ticks per turn of the wheel. A later timer stays in its slot for more than one turn. */
const slotCount = 1_024

/** A doubly linked list, as Node.js has for its timers: a timer that is cancelled is removed, and released, at once. */
class TimerList {
  /** The first and the last timer; the list itself if it is empty. */
  next: TimerList | Timer = this
  previous: TimerList | Timer = this

  get first(): Timer | undefined {
    return this.next === this ? undefined : (this.next as Timer)
  }

  append(timer: Timer): void {
    timer.previous = this.previous
    timer.next = this
    this.previous.next = timer
    this.previous = timer
  }

  /** The timers, in order. The current one may be removed. */
  *[Symbol.iterator](): Generator<Timer> {
    let timer = this.next
    while (timer !== this) {
      const { next } = timer
      yield timer as Timer
      timer = next
    }
  }
}

class Timer {
  readonly tick: number
  /** Undefined after the timer has run or was cancelled. */
  action: (() => void) | undefined
  next: TimerList | Timer = this
  previous: TimerList | Timer = this

  constructor(tick: number, action: () => void) {
    this.tick = tick
    this.action = action
  }

  /** Removes it from its list. */
  remove(): void {
    this.previous.next = this.next
    this.next.previous = this.previous
    this.next = this
    this.previous = this
  }
}

/**
 * A clock whose timers share one timer of `clock`: each of thousands of servers has three or four. With the timers of Node.js 1,000 polls
 * a second cost about 11 % more CPU time, compared by their ratios to bare sockets (`npm run bench -- fleet --servers=1000 --interval=1000`).
 * Actions that are due at the same time run in slices. An action may run up to `tickMs` late, never early.
 */
export function createWheel(clock: Clock, createSlice: () => Pick<Pauses, 'isDue'> = createPauses): Clock {
  const slots = Array.from({ length: slotCount }, () => new TimerList())
  /** Number of timers that have neither run nor been cancelled. */
  let pending = 0
  /** All timers up to this tick have been removed from their slots. */
  let passed = Number.NEGATIVE_INFINITY
  /** Timers that are due, ordered by tick. */
  const due = new TimerList()
  let armedFor = Number.POSITIVE_INFINITY
  let disarm = () => {}

  const slotOf = (tick: number): TimerList => slots[tick % slotCount] as TimerList

  function end(timer: Timer): void {
    timer.remove()
    timer.action = undefined
    pending--
  }

  function arm(tick: number): void {
    if (tick >= armedFor) return
    disarm()
    armedFor = tick
    disarm = clock.after(Math.min(maxTimerMs, Math.max(0, tick * tickMs - clock.now())), fire)
  }

  function takeDue(now: number): void {
    const from = Math.max(passed + 1, now - slotCount + 1)
    // After a pause of more than one turn, for example of the machine, a slot has timers of several ticks.
    const isLate = passed < from - 1
    const late: Timer[] = []
    for (let tick = from; tick <= now; tick++) {
      for (const timer of slotOf(tick)) {
        if (timer.tick > now) continue
        timer.remove()
        if (isLate) late.push(timer)
        else due.append(timer)
      }
    }
    for (const timer of late.sort((a, b) => a.tick - b.tick)) due.append(timer)
    passed = Math.max(passed, now)
  }

  function armNext(): void {
    if (pending === 0) return
    for (let tick = passed + 1; tick <= passed + slotCount; tick++) {
      if (slotOf(tick).first !== undefined) {
        arm(tick)
        return
      }
    }
  }

  function fire(): void {
    armedFor = Number.POSITIVE_INFINITY
    // A system timer may fire up to a millisecond early.
    takeDue(Math.floor((clock.now() + 0.9) / tickMs))
    runSlice(createSlice())
  }

  function runSlice(slice: Pick<Pauses, 'isDue'>): void {
    for (let ran = 0; ran < batchSize; ran++) {
      const timer = due.first
      if (timer === undefined) break
      const { action } = timer
      end(timer)
      action?.()
    }
    if (due.first === undefined) armNext()
    else if (slice.isDue()) arm(passed)
    else queueMicrotask(() => runSlice(slice))
  }

  return {
    now: clock.now,
    wall: clock.wall,
    after(delay, action) {
      const now = clock.now()
      if (pending === 0) passed = Math.floor(now / tickMs) - 1
      const tick = Math.max(Math.ceil((now + delay) / tickMs), passed + 1)
      const timer = new Timer(tick, action)
      slotOf(tick).append(timer)
      pending++
      arm(tick)
      return () => {
        if (timer.action === undefined) return
        end(timer)
        if (pending === 0) {
          disarm()
          armedFor = Number.POSITIVE_INFINITY
        }
      }
    },
  }
}
