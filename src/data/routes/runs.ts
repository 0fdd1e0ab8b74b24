import type { FastifyInstance, FastifyRequest } from 'fastify'
import { security } from '../../http/openapi/docs.ts'
import { problems } from '../../http/replies/problem.ts'
import { prepareJson, sendPrepared } from '../../http/replies/reply.ts'
import { json } from '../../http/replies/responses.ts'
import { Type } from '../../util/schema.ts'
import { firstErrors, RunRecord } from '../runs/history.ts'
import type { Runs, ScriptStatus, StartReply } from '../runs/index.ts'
import type { Schedule } from '../runs/schedule.ts'
import type { Script } from '../scripts/script.ts'

/** Path of the list of scripts; that of each script is below it. */
const runPath = '/v1/run'

const ScriptReply = Type.Object({ status: Type.String() }, { title: 'Script status' })
const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds after which the script may run again' } }

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

const scriptReplies = {
  ...problems(400, 401, 403),
  200: scriptReply('The script has started, or is already running', 'udating...'),
  429: withProblem(429, scriptReply('The script ran recently', 'ran 12 s ago, try again in 48 s', retryAfter)),
  500: scriptReply('The script could not be started', 'not started: unexpected error, see the log'),
  503: scriptReply('Settings of the script are missing', 'not configured: set SPOTIFY_CLIENT_ID, SPOTIFY_CLIENT_SECRET'),
}

const Time = (description?: string) => Type.Optional(Type.String({ format: 'date-time', ...(description && { description }) }))
const Errors = (description: string) => Type.Optional(Type.Array(Type.String(), { description }))

const RunList = Type.Object(
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

const interruption = 'interrupted: the process ended during the run; published data is complete'

/** What is known of the last run. The end and the counts of an interrupted one are unknown. */
function lastRunOf({ state, started, last }: ScriptStatus) {
  if (started !== undefined && state !== 'running')
    return { trigger: started.trigger, outcome: 'failed', error: interruption, errors: [interruption] }
  if (last === undefined) return {}
  const { ended: last_end, duration, trigger, outcome, counts, errors, retryAt: retry_at } = last
  const failures = errors.length > 0 ? { error: errors[0], errors } : {}
  return { last_end, duration, trigger, outcome, counts, ...failures, retry_at }
}

const isoOf = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString())

/** A script in the reply of `/v1/run`; JSON has no field that is undefined. @param nextRun Unix milliseconds */
const toScriptRun = (status: ScriptStatus, nextRun: number | undefined) => ({
  script: status.script,
  path: status.route,
  state: status.state,
  missing: status.missing,
  next_run: isoOf(nextRun),
  last_success: status.lastSuccess,
  authorisation_expires: isoOf(status.own?.authorisationExpires),
  set_aside: status.own?.setAside.length ? firstErrors(status.own.setAside) : undefined,
  last_start: (status.started ?? status.last)?.started,
  ...lastRunOf(status),
})

interface RunRoutesOptions {
  readonly scripts: readonly Script[]
  readonly runs: Pick<Runs, 'start' | 'status'>
  readonly schedule: Pick<Schedule, 'next'>
  /** Throws for requests that are not allowed. */
  readonly protect: (request: FastifyRequest) => void
}

const noStore = { 'cache-control': 'no-store' }

/** The reply about the start of a script: its HTTP status, the Script status, and Retry-After in seconds. */
function replyTo(started: StartReply): readonly [code: 200 | 429 | 500 | 503, status: string, retryAfter?: number] {
  switch (started.state) {
    case 'started':
      return [200, 'udating...']
    case 'already running':
    case 'already done':
      return [200, 'already running']
    case 'not configured':
      return [503, `not configured: set ${started.missing.join(', ')}`]
    case 'no folder':
      return [503, `not configured: ${started.reason}`]
    case 'no shared state':
      return [503, `not started: ${started.reason}`, 10]
    case 'stopping':
      return [503, 'not started: the service is shutting down']
    case 'error':
      return [500, 'not started: unexpected error, see the log']
    case 'too soon':
      return [429, `ran ${started.since} s ago, try again in ${started.wait} s`, started.wait]
  }
}

/** `/v1/run` and the routes that start a script. */
export function registerRunRoutes(app: FastifyInstance, { scripts, runs, schedule, protect }: RunRoutesOptions): void {
  const { onRequest: limit } = app.clientLimits.rateLimit('clientRuns')
  const common = { config: { crossOrigin: false }, onRequest: [limit, async (request: FastifyRequest) => protect(request)] }
  const docs = { tags: ['Script runs'], security: security.runs }
  const summary = 'State of the update scripts'
  const schema = {
    ...docs,
    summary,
    description: 'The state, last run and next run of each script.',
    response: { 200: { description: summary, content: json(RunList) }, ...problems(400, 401, 403, 429) },
  }
  app.get(runPath, { ...common, schema }, async (request, reply) => {
    const list = (await runs.status()).map((status) => toScriptRun(status, schedule.next(status.script)))
    return sendPrepared(request, reply, prepareJson({ scripts: list }, noStore))
  })
  for (const { name, route, summary } of scripts) {
    const description = 'Starts the script in the background and replies immediately; `/v1/run` shows its progress.'
    const schema = { ...docs, summary, description, response: scriptReplies }
    app.get(route, { ...common, config: { ...common.config, hasEffects: true }, schema }, async (_request, reply) => {
      const [code, status, retryAfter] = replyTo(await runs.start(name, 'request'))
      const more = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
      const { headers, body } = prepareJson({ status }, { ...noStore, ...more })
      return reply.code(code).headers(headers).send(body)
    })
  }
}
