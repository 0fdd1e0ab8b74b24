import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { RequestError } from '../errors.ts'
import { problems } from '../http/problem.ts'
import { prepareJson, sendPrepared } from '../http/reply.ts'
import { Counts, firstErrors, RunRecord } from './runs/history.ts'
import type { Runs, ScriptStatus, StartReply } from './runs/index.ts'
import type { Schedule } from './runs/schedule.ts'
import type { Script } from './scripts/script.ts'

export interface RunRoutesOptions {
  readonly scripts: readonly Script[]
  readonly runs: Pick<Runs, 'start' | 'status'>
  readonly schedule: Pick<Schedule, 'next'>
  /** Throws for a request that is not allowed. */
  readonly protect: (request: FastifyRequest) => void
}

const noStore = { 'cache-control': 'no-store' }

const ScriptReply = Type.Object({ status: Type.String() }, { title: 'Script status', examples: [{ status: 'udating...' }] })

const Time = Type.String({ format: 'date-time' })
const RunList = Type.Object(
  {
    scripts: Type.Array(
      Type.Object({
        script: Type.String(),
        path: Type.String({ description: 'Route that starts it' }),
        state: Type.Enum(['idle', 'running', 'succeeded', 'failed'] as const),
        missing: Type.Array(Type.String(), { description: 'Settings without which it cannot run' }),
        next_run: Type.Optional(Time),
        last_success: Type.Optional(Time),
        authorisation_expires: Type.Optional(
          Type.String({ format: 'date-time', description: 'When the access ends that tickwarden authorise obtained' }),
        ),
        set_aside: Type.Optional(
          Type.Array(Type.String(), { description: 'Items that keep failing and are tried again weekly; the first 20' }),
        ),
        last_start: Type.Optional(
          Type.String({ format: 'date-time', description: 'Of the run under way, else of the last one' }),
        ),
        last_end: Type.Optional(
          Type.String({ format: 'date-time', description: 'Of the last run that has ended, like everything below' }),
        ),
        duration: Type.Optional(Type.Number({ description: 'Seconds' })),
        trigger: Type.Optional(Type.String({ description: 'request, schedule, catch-up or command' })),
        outcome: Type.Optional(RunRecord.properties.outcome),
        counts: Type.Optional(Counts),
        error: Type.Optional(Type.String({ description: 'The first' })),
        errors: Type.Optional(Type.Array(Type.String(), { description: 'The first 20, and how many more there are' })),
        retry_at: Type.Optional(Time),
      }),
    ),
  },
  { title: 'Script runs' },
)

function toReply(
  { script, route, state, runningSince, missing, last, lastSuccess, own }: ScriptStatus,
  nextRun: number | undefined,
) {
  const started = runningSince ?? last?.started
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
    ...(last && {
      last_end: last.ended,
      duration: last.duration,
      trigger: last.trigger,
      outcome: last.outcome,
      counts: last.counts,
      ...(last.errors.length > 0 && { error: last.errors[0], errors: last.errors }),
      ...(last.retryAt !== undefined && { retry_at: last.retryAt }),
    }),
  }
}

function send(reply: FastifyReply, code: number, status: string, headers: Readonly<Record<string, string>> = {}): FastifyReply {
  const prepared = prepareJson({ status }, { ...noStore, ...headers })
  return reply.code(code).headers(prepared.headers).send(prepared.body)
}

/** Every reply about the script itself is the Script status envelope. */
function sendStart(reply: FastifyReply, started: StartReply): FastifyReply {
  switch (started.state) {
    case 'started':
      return send(reply, 200, 'udating...')
    case 'already running':
      return send(reply, 200, 'already running')
    case 'not configured':
      return send(reply, 503, `not configured: set ${started.missing.join(', ')}`)
    case 'no folder':
      return send(reply, 503, `not configured: ${started.reason}`)
    case 'stopping':
      return send(reply, 503, 'not started: the service is shutting down')
    case 'error':
      return send(reply, 500, 'not started: unexpected error, see the log')
    case 'too soon':
      return send(reply, 429, `ran ${started.since} s ago, try again in ${started.wait} s`, {
        'retry-after': String(started.wait),
      })
  }
}

/** `/v1/run` and the routes that start a script. */
export function registerRunRoutes(app: FastifyInstance, { scripts, runs, schedule, protect }: RunRoutesOptions): void {
  const common = { config: { crossOrigin: false }, onRequest: async (request: FastifyRequest) => protect(request) }
  const tags = ['Script runs']
  const refusals = problems(401, 403)
  app.get(
    '/v1/run',
    { ...common, schema: { tags, summary: 'State of the update scripts', response: { 200: RunList, ...refusals } } },
    async (request, reply) => {
      const list = (await runs.status()).map((status) => toReply(status, schedule.next(status.script)))
      return sendPrepared(request, reply, prepareJson({ scripts: list }, noStore))
    },
  )
  for (const { name, route, summary } of scripts) {
    const response = { 200: ScriptReply, 429: ScriptReply, 500: ScriptReply, 503: ScriptReply, ...refusals }
    app.get(route, { ...common, exposeHeadRoute: false, schema: { tags, summary, response } }, async (_request, reply) =>
      sendStart(reply, await runs.start(name, 'request')),
    )
    // Whoever sends HEAD expects that nothing happens.
    app.head(route, { config: common.config, schema: { hide: true } }, () => {
      throw new RequestError(405, 'METHOD_NOT_ALLOWED', `HEAD is not possible on ${route}; use GET.`, { allow: 'GET' })
    })
  }
}
