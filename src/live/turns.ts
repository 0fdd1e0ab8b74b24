import { createLimiter } from '../util/limiter.ts'
import { createPauses, type Pauses } from '../util/pauses.ts'

/** Writes a part, a fraction of a millisecond of work. Returns whether it has more to write. */
export type Step = () => boolean

/**
 * Long outputs to many clients, written part by part so that none of them blocks the event loop.
 * An output continues until it has no more to write for now, then the next one: a client that has been sent a part of the states must
 * also be sent every event of these servers, so it is best if few are in that phase.
 * @returns a function that starts or continues an output after those that already wait
 */
export function createTurns(pauses: Pick<Pauses, 'isDue' | 'take'> = createPauses()) {
  const inTurn = createLimiter(() => 1)
  return (step: Step): Promise<void> =>
    inTurn(async () => {
      do if (pauses.isDue()) await pauses.take()
      while (step())
    })
}

export type Turns = ReturnType<typeof createTurns>
