/** Decay of the expected duration after a faster reply: a single slow tick has no effect after a few commands. */
const decay = 0.7
/** Safety factor on the expected duration. */
const margin = 1.1

/** Estimates the duration of commands, so that none is sent that cannot end before the deadline. */
export interface CommandDuration {
  /** @param ms milliseconds from sending the command to its reply or the deadline */
  measured(ms: number): void
  /** Returns whether a command is expected to end within the remaining time. True before the first measurement. */
  fits(remainingMs: number): boolean
}

export function createCommandDuration(): CommandDuration {
  let expectedMs = 0
  return {
    measured(ms) {
      expectedMs = Math.max(ms, expectedMs * decay)
    },
    fits: (remainingMs) => expectedMs * margin < remainingMs,
  }
}
