import { createPauses, type Pauses } from '../util/pauses.ts'

/** Writes a part, a fraction of a millisecond of work. Returns whether it has more to write. */
export type Step = () => boolean

/**
 * Long outputs to many clients, written part by part so that none of them blocks the event loop.
 * An output continues until it has no more to write for now, then the next one: a client that has been sent a part of the states must
 * also be sent every event of these servers, so it is best if few are in that phase.
 */
export function createTurns(startPauses: () => Pauses = createPauses) {
  const added = new Set<Step>()
  const waiting = new Set<Step>()
  let isBusy = false

  function runNext(): void {
    for (const step of added) {
      added.delete(step)
      if (step()) waiting.add(step)
      return
    }
    for (const step of waiting) {
      if (!step()) waiting.delete(step)
      return
    }
  }

  async function run(): Promise<void> {
    isBusy = true
    const pauses = startPauses()
    await pauses.take()
    while (added.size + waiting.size > 0) {
      runNext()
      if (pauses.isDue()) await pauses.take()
    }
    isBusy = false
  }

  return {
    /**
     * Adds a new output, which writes its first part before the others continue: a short output does not wait for long ones. Runs
     * it immediately if there are no others.
     */
    add(step: Step): void {
      if (isBusy) added.add(step)
      else if (step()) {
        waiting.add(step)
        void run()
      }
    },
    /** Continues an output after those that already wait. */
    resume(step: Step): void {
      waiting.add(step)
      if (!isBusy) void run()
    },
    delete(step: Step): void {
      added.delete(step)
      waiting.delete(step)
    },
  }
}

export type Turns = ReturnType<typeof createTurns>
