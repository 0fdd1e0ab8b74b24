import type { ScriptStatus } from '../runs/index.ts'
import { firstErrors, type RunRecord, type StartedRun } from '../runs/run-record.ts'

const endedReply = (last: RunRecord) => ({
  last_end: last.ended,
  duration: last.duration,
  trigger: last.trigger,
  outcome: last.outcome,
  counts: last.counts,
  ...(last.errors.length > 0 && { error: last.errors[0], errors: last.errors }),
  ...(last.retryAt !== undefined && { retry_at: last.retryAt }),
})

const interruption = 'interrupted: the process ended during the run; published data is complete'

/** The end and the counts of an interrupted run are unknown. */
const interruptedReply = ({ trigger }: StartedRun) => ({
  trigger,
  outcome: 'failed' as const,
  error: interruption,
  errors: [interruption],
})

/** A script in the reply of `/v1/run`. @param nextRun Unix milliseconds */
export function toScriptRun(
  { script, route, state, runningSince, missing, last, interrupted, lastSuccess, own }: ScriptStatus,
  nextRun: number | undefined,
) {
  const started = runningSince ?? interrupted?.started ?? last?.started
  return {
    script,
    path: route,
    state,
    missing,
    ...(nextRun !== undefined && { next_run: new Date(nextRun).toISOString() }),
    ...(lastSuccess !== undefined && { last_success: lastSuccess }),
    ...(own?.authorisationExpires !== undefined && { authorisation_expires: new Date(own.authorisationExpires).toISOString() }),
    ...(own !== undefined && own.setAside.length > 0 && { set_aside: firstErrors(own.setAside) }),
    ...(started !== undefined && { last_start: started }),
    ...(interrupted ? interruptedReply(interrupted) : last && endedReply(last)),
  }
}
