/** Bytes that are written in one turn of the event loop: a few milliseconds. */
const turnBytes = 256 * 1024

/** Writes a part, and returns its bytes. */
export type Step = () => number

/** Long outputs to many clients, written part by part so that none of them blocks the event loop or the others. */
export interface Turns {
  /** Runs `step` after those that already wait, or immediately if none do. A step that has more to write adds itself again. */
  add(step: Step): void
  /** Like `add`, but never runs it immediately. */
  addLater(step: Step): void
  delete(step: Step): void
}

/** @param beforeTurn runs at the start of each turn */
export function createTurns(beforeTurn: () => void): Turns {
  const steps = new Set<Step>()
  /** True while a turn is scheduled or runs. */
  let isBusy = false

  function run(): void {
    isBusy = true
    beforeTurn()
    let written = 0
    for (const step of steps) {
      if (written >= turnBytes) break
      steps.delete(step)
      written += step()
    }
    isBusy = false
    if (steps.size > 0) schedule()
  }

  function schedule(): void {
    if (isBusy) return
    isBusy = true
    setImmediate(run)
  }

  return {
    add(step) {
      steps.add(step)
      if (!isBusy) run()
    },
    addLater(step) {
      steps.add(step)
      schedule()
    },
    delete: (step) => void steps.delete(step),
  }
}
