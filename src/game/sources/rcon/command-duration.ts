/** How much of an earlier duration still counts after a faster reply: a single slow tick is forgotten within a few commands. */
const decay = 0.7
/** A command that is expected to end just in time may not. */
const margin = 1.1

/** Measures how long commands take, so that none is sent which cannot end in the time that is left. */
export interface CommandDuration {
  /** @param ms from sending the command to its reply, or to the deadline */
  measured(ms: number): void
  /** Whether a command is expected to end within so many milliseconds. True before the first was measured. */
  fits(leftMs: number): boolean
}

export function createCommandDuration(): CommandDuration {
  let expectedMs = 0
  return {
    measured(ms) {
      expectedMs = Math.max(ms, expectedMs * decay)
    },
    fits: (leftMs) => expectedMs * margin < leftMs,
  }
}
