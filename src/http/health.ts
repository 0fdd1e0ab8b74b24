import type { FastifyInstance } from 'fastify'
import { unavailable } from '../util/errors.ts'
import { Type } from '../util/schema.ts'
import { problem } from './replies/problem.ts'
import { prepareJson, sendPrepared } from './replies/reply.ts'
import { json, preparedReplies } from './replies/responses.ts'

const livenessPath = '/healthz'
/** Names of the health routes. */
export const healthPaths: readonly string[] = [livenessPath, '/readyz']

/** Maximum number of pending items named in a reply. */
const maxNamed = 5

const headers = { 'cache-control': 'no-store' }
const Health = Type.Object({ status: Type.String({ enum: ['ok', 'ready'] }) }, { title: 'Health' })

/**
 * `/healthz`: the process answers. `/readyz`: the start is complete.
 * @param waitingFor what the service still waits for, for messages: `the first poll of "lobby"`; empty once the start is complete
 */
export function registerHealth(app: FastifyInstance, waitingFor: () => readonly string[]): void {
  const ok = prepareJson({ status: 'ok' }, headers)
  const ready = prepareJson({ status: 'ready' }, headers)
  const schemaOf = (summary: string, description: string, status: string, failures = {}) => ({
    ...{ tags: ['basic'], summary, description },
    response: { ...preparedReplies({ description: summary, content: json(Health, { status }) }), ...failures },
  })

  const liveness = 'Answers as soon as the service listens. For liveness probes of containers.'
  app.get(livenessPath, { schema: schemaOf('Is the process alive?', liveness, 'ok') }, (request, reply) =>
    sendPrepared(request, reply, ok),
  )

  const readiness =
    'Ready once the first poll of every server has ended or timed out, and every database has been read. A server that is down does not make the service unready. For readiness and startup probes of containers.'
  const detail = 'The service is starting: it waits for the first poll of "survival".'
  const schema = schemaOf('Has the service started?', readiness, 'ready', problem(503, { code: 'NOT_READY', detail }))
  app.get('/readyz', { schema }, (request, reply) => {
    const waiting = waitingFor()
    if (waiting.length === 0) return sendPrepared(request, reply, ready)
    const more = waiting.length > maxNamed ? ` and ${waiting.length - maxNamed} more` : ''
    throw unavailable('NOT_READY', `The service is starting: it waits for ${waiting.slice(0, maxNamed).join(', ')}${more}.`, 1)
  })
}
