import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import type { SourceName } from '../../src/game/sources/names.ts'
import type { Source } from '../../src/game/sources/source.ts'
import { toAbortSignal } from '../../src/util/abortable.ts'
import type { ManualClock } from './manual-clock.ts'

type Answer = Partial<Fields> | Error | 'silent' | ((signal: AbortSignal) => Promise<Partial<Fields>>)

export interface ScriptedSource extends Source {
  /** The result of the next polls. */
  answer: Answer
  readonly polledAt: number[]
  closed: boolean
}

/** A scripted source: returns fields, throws an error, or never ends, ignoring its signal. */
export function scriptedSource(name: SourceName, clock: ManualClock, answer: Answer = {}): ScriptedSource {
  const source: ScriptedSource = {
    name,
    target: `${name}.test:1`,
    answer,
    polledAt: [],
    closed: false,
    async poll(signal) {
      source.polledAt.push(clock.now())
      const { answer } = source
      if (answer === 'silent') return new Promise(() => {})
      if (answer instanceof Error) throw answer
      const fields = typeof answer === 'function' ? await answer(toAbortSignal(signal)) : answer
      return { source: name, at: clock.now(), fields }
    },
    close() {
      source.closed = true
    },
  }
  return source
}

export const refused = new SourceError('refused', 'status.test:1: connection refused')
