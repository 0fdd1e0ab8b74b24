/** A doubly linked list, as Node.js has for its timers: a timer that is cancelled is removed, and released, at once. */
export class TimerList {
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

export class Timer {
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
