/** Decay of the expected duration after a faster reply: a single slow tick has no effect after a few commands. */
const decay = 0.7
/** Safety factor on the expected duration. */
const margin = 1.1

/** Estimates the duration of commands, so that none is sent that cannot end before the deadline. */
export class CommandDuration {
  #expectedMs = 0

  /** @param ms milliseconds from sending the command to its reply or the deadline */
  measured(ms: number): void {
    this.#expectedMs = Math.max(ms, this.#expectedMs * decay)
  }

  /** Returns whether a command is expected to end within the remaining time. True before the first measurement. */
  fits(remainingMs: number): boolean {
    return this.#expectedMs * margin < remainingMs
  }
}
