import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Fleet } from '../src/game/fleet.ts'
import { addressOf, type ServerSettings } from '../src/game/server.ts'
import { problems } from '../src/http/problem.ts'
import { prepareJson, sendPrepared } from '../src/http/reply.ts'
import { targetOf } from './probe/target.ts'

const TargetGroups = Type.Array(
  Type.Object({
    targets: Type.Array(Type.String({ description: 'What to give to /probe' })),
    labels: Type.Record(Type.String(), Type.String(), { description: 'For relabelling' }),
  }),
  { title: 'Target groups of Prometheus HTTP service discovery' },
)

function toGroup(fleet: Fleet, server: ServerSettings): Static<typeof TargetGroups>[number] {
  const { name } = server
  const address = addressOf(server)
  const targets = [targetOf(fleet, server)]
  const labels = { __meta_tickwarden_name: name }
  if (address === undefined) return { targets, labels }
  const { edition, host, port } = address
  return {
    targets,
    labels: {
      ...labels,
      __meta_tickwarden_edition: edition,
      __meta_tickwarden_host: host,
      __meta_tickwarden_port: String(port),
    },
  }
}

/** `/sd`: the watched servers for `http_sd_config`, one group each. */
export function registerSdRoute(app: FastifyInstance, fleet: Fleet): void {
  const reply = prepareJson(fleet.servers.map((server) => toGroup(fleet, server)) satisfies Static<typeof TargetGroups>)
  const schema = {
    tags: ['metrics'],
    summary: 'Watched servers as Prometheus HTTP service discovery',
    response: { 200: TargetGroups, ...problems(401) },
  }
  app.get('/sd', { config: { crossOrigin: false }, schema }, (request, to) => sendPrepared(request, to, reply))
}
