import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Fleet } from '../src/game/fleet.ts'
import { formatHostPort } from '../src/game/protocol/address.ts'
import type { ServerSettings } from '../src/game/server.ts'
import { Problem } from '../src/http/problem.ts'
import { prepareJson, sendPrepared } from '../src/http/reply.ts'

const TargetGroups = Type.Array(
  Type.Object({
    targets: Type.Array(Type.String({ description: 'What to give to /probe' })),
    labels: Type.Record(Type.String(), Type.String(), { description: 'For relabelling' }),
  }),
  { title: 'Target groups of Prometheus HTTP service discovery' },
)

function toGroup({ name, address }: ServerSettings): Static<typeof TargetGroups>[number] {
  const labels = { __meta_tickwarden_name: name }
  // Without an address (a server known by its directory) the name is what /probe takes.
  if (address === undefined) return { targets: [name], labels }
  const { edition, host, port } = address
  return {
    targets: [`${edition === 'bedrock' ? 'bedrock://' : ''}${formatHostPort(address)}`],
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
  const reply = prepareJson(fleet.servers.map(toGroup) satisfies Static<typeof TargetGroups>)
  const schema = {
    tags: ['metrics'],
    summary: 'Watched servers as Prometheus HTTP service discovery',
    response: { 200: TargetGroups, 401: Problem },
  }
  app.get('/sd', { config: { crossOrigin: false }, schema }, (request, to) => sendPrepared(request, to, reply))
}
