import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../clock.ts'
import { type ScriptName, scripts as scriptNames } from '../config/kinds.ts'
import type { Config } from '../config.ts'
import { security } from '../http/docs.ts'
import { problems } from '../http/problem.ts'
import { prepareJson, sendPrepared } from '../http/reply.ts'
import { json } from '../http/responses.ts'
import type { Log } from '../log.ts'
import { Counts, RunRecord } from './runs/history.ts'
import { createProtection } from './runs/protection.ts'
import { createRuns, type Runs, type ScriptStatus, type StartReply } from './runs/runs.ts'
import { startSchedule } from './runs/schedule.ts'
import { allScripts } from './scripts/all.ts'
import type { Script } from './scripts/script.ts'
import type { Store } from './store.ts'

export interface RunsRouteOptions {
  readonly config: Pick<Config, 'host' | 'values'>
  readonly clock: Clock
  readonly log: Log
  readonly store: Store
  /** Default: all there are. */
  readonly scripts?: readonly Script[]
}

/** The scripts, with the routes that start them. */
const routes: readonly (readonly [name: ScriptName, path: string, summary: string])[] = [
  ['kcomebacks', '/v1/run/kcomebacks', 'Start the update of the comebacks'],
  ['projects', '/v1/run/projects', 'Start the update of the projects'],
  ['likedsongs', '/v1/run/synclikedsongs', 'Start the sync of liked songs'],
]

const noStore = { 'cache-control': 'no-store' }

const ScriptReply = Type.Object({ status: Type.String() }, { title: 'Script status' })
const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds after which the script may run again' } }

/** A reply about the script itself. */
const scriptReply = (description: string, status: string, headers?: object) => ({
  description,
  ...(headers && { headers }),
  content: json(ScriptReply, { status }),
})

const scriptReplies = {
  200: scriptReply('The script has started, or is already running', 'udating...'),
  429: scriptReply('The script ran a moment ago', 'ran 12 s ago, try again in 48 s', retryAfter),
  503: scriptReply('Settings of the script are missing', 'not configured: set SPOTIFY_CLIENT_ID, SPOTIFY_CLIENT_SECRET'),
  ...problems(400, 401, 403),
}

const Time = Type.String({ format: 'date-time' })
const RunList = Type.Object(
  {
    scripts: Type.Array(
      Type.Object(
        {
          script: Type.Enum(scriptNames),
          path: Type.String({ description: 'Route that starts it' }),
          state: Type.Enum(['idle', 'running', 'succeeded', 'failed'] as const),
          missing: Type.Array(Type.String(), { description: 'Settings without which it cannot run' }),
          next_run: Type.Optional(Time),
          last_success: Type.Optional(Time),
          last_start: Type.Optional(Type.String({ format: 'date-time', description: 'Of the run under way, else of the last' })),
          last_end: Type.Optional(
            Type.String({ format: 'date-time', description: 'Of the last run that has ended, as all that follows' }),
          ),
          duration: Type.Optional(Type.Number({ description: 'Seconds' })),
          trigger: Type.Optional(Type.String({ description: 'request, schedule, catch-up or command' })),
          outcome: Type.Optional(RunRecord.properties.outcome),
          counts: Type.Optional(Counts),
          error: Type.Optional(Type.String({ description: 'The first' })),
          errors: Type.Optional(Type.Array(Type.String(), { description: 'The first 20, and how many more there are' })),
          retry_at: Type.Optional(Time),
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

function shown({ script, state, runningSince, missing, last, lastSuccess }: ScriptStatus, nextRun: number | undefined) {
  return {
    script,
    path: routes.find(([name]) => name === script)?.[1] ?? '',
    state,
    missing,
    ...(nextRun !== undefined && { next_run: new Date(nextRun).toISOString() }),
    ...(lastSuccess !== undefined && { last_success: lastSuccess }),
    ...((runningSince ?? last?.started) !== undefined && { last_start: runningSince ?? last?.started }),
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

function answer(reply: FastifyReply, started: StartReply): FastifyReply {
  switch (started.state) {
    case 'started':
      return send(reply, 200, 'udating...')
    case 'already running':
      return send(reply, 200, 'already running')
    case 'not configured':
      return send(reply, 503, `not configured: set ${started.missing.join(', ')}`)
    case 'no folder':
      return send(reply, 503, `not configured: ${started.reason}`)
    case 'too soon':
      return send(reply, 429, `ran ${started.since} s ago, try again in ${started.wait} s`, {
        'retry-after': String(started.wait),
      })
  }
}

/** `/v1/run` and the routes that start a script; with the schedule, which ends with the app as every run does. */
export async function registerRuns(app: FastifyInstance, options: RunsRouteOptions): Promise<Runs> {
  const { config, clock, log, store, scripts = allScripts } = options
  const { values, host } = config
  const runs = createRuns({
    scripts,
    values,
    clock,
    log,
    // The store looks by itself too, but a client that saw the run end may ask at once.
    onEnd: async ({ script }) => {
      if (script !== 'likedsongs') await store.refresh(script)
    },
  })
  const schedule = startSchedule({ runs, scripts, values, clock, log, store })
  app.addHook('onClose', async () => {
    schedule.stop()
    await runs.close()
  })

  const protect = createProtection(host, values.runToken)
  const common = {
    config: { crossOrigin: false },
    onRequest: async (request: Parameters<typeof protect>[0]) => protect(request),
  }
  const docs = { tags: ['Script runs'], security: security.runs }
  const summary = 'State of the update scripts'
  const schema = {
    ...docs,
    summary,
    description: 'For each script its state, its last run and its next one.',
    response: { 200: { description: summary, content: json(RunList) }, ...problems(400, 401, 403) },
  }
  app.get('/v1/run', { ...common, schema }, async (request, reply) => {
    const list = (await runs.status()).map((status) => shown(status, schedule.next(status.script)))
    return sendPrepared(request, reply, prepareJson({ scripts: list }, noStore))
  })
  for (const [name, path, summary] of routes.filter(([name]) => runs.names.includes(name))) {
    const description = 'Starts the script in the background and answers at once; `/v1/run` shows how it goes.'
    const schema = { ...docs, summary, description, response: scriptReplies }
    app.get(path, { ...common, schema }, async (_request, reply) => answer(reply, await runs.start(name, 'request')))
  }
  return runs
}
