import type { Log } from '../../util/log.ts'
import { type Counts, noCounts, type RunContext, type RunResult, type Script } from '../scripts/script.ts'
import { UpstreamError } from '../scripts/upstream-error.ts'

/** Maximum duration of a run, milliseconds. */
const maxRunMs = 30 * 60_000
/** Time for a script to end after its signal is aborted, milliseconds. Shorter than the shutdown timeout of the service. */
const graceMs = 3000

/** A script, and what it gets except for its log and counts. */
export interface ScriptOrder extends Omit<RunContext, 'log' | 'counts'> {
  readonly script: Script
}

/** A failed run. Its counts are copied: an abandoned script may still change them. */
export const failure = (error: string, reached: Counts): RunResult => ({
  outcome: 'failed',
  counts: { ...reached },
  errors: [error],
})

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function resultOf(error: unknown, reached: Counts): RunResult {
  const result = failure(messageOf(error), reached)
  if (!(error instanceof UpstreamError) || error.retryAt === undefined) return result
  return { ...result, outcome: 'rate_limited', retryAt: error.retryAt }
}

/** How a run ended, and whether the script is still running. */
export interface End {
  readonly result: RunResult
  /** Set if the script ignored the abort: resolves when it does end. Never rejects. */
  readonly stillRunning?: Promise<unknown>
}

/** Runs the script until it ends, exceeds the time limit or is aborted. Never rejects. */
export async function runScript(order: ScriptOrder, log: Log): Promise<End> {
  const { script, clock, signal } = order
  const limit = new AbortController()
  const cancelLimit = clock.after(maxRunMs, () => limit.abort())
  const stop = AbortSignal.any([signal, limit.signal])
  const counts = { ...noCounts }
  const stopped = () =>
    failure(limit.signal.aborted ? `stopped at the time limit of ${maxRunMs / 60_000} minutes` : 'stopped', counts)

  // Async, so that a synchronous throw becomes a rejection.
  const start = async () => script.run({ ...order, signal: stop, log, counts })
  const over = start().catch((error: unknown) => {
    if (stop.aborted) return stopped()
    log.error({ err: error, script: script.name }, `${script.name}: the run failed`)
    return resultOf(error, counts)
  })
  let cancelGrace = () => {}
  const abandoned = new Promise<End>((resolve) => {
    const begin = () => {
      cancelGrace = clock.after(graceMs, () => resolve({ result: stopped(), stillRunning: over }))
    }
    if (stop.aborted) begin()
    else stop.addEventListener('abort', begin, { once: true })
  })
  try {
    return await Promise.race([over.then((result) => ({ result })), abandoned])
  } finally {
    cancelLimit()
    cancelGrace()
  }
}
