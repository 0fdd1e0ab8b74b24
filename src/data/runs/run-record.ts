import { type Static, Type } from '../../util/schema.ts'
import { outcomes } from '../scripts/script.ts'

const triggers = ['request', 'schedule', 'catch-up', 'command'] as const
/** What started a run. */
export type Trigger = (typeof triggers)[number]

const Count = Type.Integer({ minimum: 0 })
export const Counts = Type.Object(
  { read: Count, added: Count, changed: Count, unchanged: Count, rejected: Count },
  { description: 'Number of rows, projects or songs; of an aborted run, those processed before it ended' },
)

/** A run that has ended. Times are ISO 8601, UTC. */
export const RunRecord = Type.Object({
  script: Type.String(),
  trigger: Type.Enum(triggers),
  started: Type.String(),
  ended: Type.String(),
  duration: Type.Number({ description: 'Seconds' }),
  outcome: Type.Enum(outcomes),
  counts: Counts,
  errors: Type.Array(Type.String()),
  retryAt: Type.Optional(
    Type.String({ description: 'If rate_limited: the time after which the upstream accepts requests again' }),
  ),
})
export type RunRecord = Static<typeof RunRecord>

/** A run whose start is recorded, but not its end. */
export const StartedRun = Type.Object({
  script: RunRecord.properties.script,
  trigger: RunRecord.properties.trigger,
  started: RunRecord.properties.started,
})
export type StartedRun = Static<typeof StartedRun>

/** Whether a run published its results. */
export const isSuccess = ({ outcome }: Pick<RunRecord, 'outcome'>): boolean => outcome === 'done' || outcome === 'partly'

/** Maximum number of errors in the record of a run; the log contains all of them. */
const maxErrors = 20

/** The first errors, and a line with the number of the others. */
export const firstErrors = (errors: readonly string[]): readonly string[] =>
  errors.length <= maxErrors ? errors : [...errors.slice(0, maxErrors), `and ${errors.length - maxErrors} more, see the log`]
