import { problems } from '../../http/replies/problem.ts'
import { json } from '../../http/replies/responses.ts'
import { Type } from '../../util/schema.ts'
import { RunRecord } from '../runs/history.ts'

const ScriptReply = Type.Object({ status: Type.String() }, { title: 'Script status' })
const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds after which the script may run again' } }

/** A reply about the script itself. */
const scriptReply = (description: string, status: string, headers?: object) => ({
  description,
  ...(headers && { headers }),
  content: json(ScriptReply, { status }),
})

/** A reply that may also be the usual error of its status. */
const withProblem = (status: number, reply: ReturnType<typeof scriptReply>) => ({
  ...reply,
  content: { ...reply.content, ...problems(status)[status]?.content },
})

/** The replies of the route that starts a script. */
export const scriptReplies = {
  ...problems(400, 401, 403),
  200: scriptReply('The script has started, or is already running', 'udating...'),
  429: withProblem(429, scriptReply('The script ran recently', 'ran 12 s ago, try again in 48 s', retryAfter)),
  500: scriptReply('The script could not be started', 'not started: unexpected error, see the log'),
  503: scriptReply('Settings of the script are missing', 'not configured: set SPOTIFY_CLIENT_ID, SPOTIFY_CLIENT_SECRET'),
}

const Time = (description?: string) => Type.Optional(Type.String({ format: 'date-time', ...(description && { description }) }))
const Errors = (description: string) => Type.Optional(Type.Array(Type.String(), { description }))

/** The reply of `/v1/run`. */
export const RunList = Type.Object(
  {
    scripts: Type.Array(
      Type.Object(
        {
          script: Type.String(),
          path: Type.String({ description: 'Route that starts it' }),
          state: Type.Enum(['idle', 'running', 'succeeded', 'failed'] as const),
          missing: Type.Array(Type.String(), { description: 'Required settings that are not set' }),
          next_run: Time(),
          last_success: Time(),
          authorisation_expires: Time('When the access obtained by tickwarden authorise expires'),
          set_aside: Errors('Items that keep failing and are tried again weekly; the first 20'),
          last_start: Time('Start of the run in progress, else of the last run'),
          last_end: Time('End of the last run, as the fields below; absent if its process was killed'),
          duration: Type.Optional(RunRecord.properties.duration),
          trigger: Type.Optional(Type.String({ description: 'request, schedule, catch-up or command' })),
          outcome: Type.Optional(RunRecord.properties.outcome),
          counts: Type.Optional(RunRecord.properties.counts),
          error: Type.Optional(Type.String({ description: 'The first error' })),
          errors: Errors('The first 20, and the number of others'),
          retry_at: Time(),
        },
        { title: 'Script run' },
      ),
    ),
  },
  {
    title: 'Script runs',
    examples: [
      {
        scripts: [
          {
            script: 'kcomebacks',
            path: '/v1/run/kcomebacks',
            state: 'succeeded',
            missing: [],
            next_run: '2026-01-16T03:00:00.000Z',
            last_success: '2026-01-15T03:00:12.000Z',
            last_start: '2026-01-15T03:00:00.000Z',
            last_end: '2026-01-15T03:00:12.000Z',
            duration: 12.3,
            trigger: 'schedule',
            outcome: 'done',
            counts: { read: 11872, added: 14, changed: 3, unchanged: 11855, rejected: 2 },
          },
        ],
      },
    ],
  },
)
