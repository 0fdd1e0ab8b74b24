import type { FastifyInstance } from 'fastify'
import { type Fleet, perServers } from '../src/game/fleet.ts'
import { addressOf, type ServerSettings } from '../src/game/server-settings.ts'
import { security } from '../src/http/openapi/docs.ts'
import { problems } from '../src/http/replies/problem.ts'
import { type PreparedReply, prepareJson, sendPrepared } from '../src/http/replies/reply.ts'
import { json, preparedReplies } from '../src/http/replies/responses.ts'
import { type Static, Type } from '../src/util/schema.ts'
import { targetsOf } from './probe/target.ts'

const TargetGroups = Type.Array(
  Type.Object(
    {
      targets: Type.Array(Type.String({ description: 'Value of `target` for /probe' })),
      labels: Type.Record(Type.String(), Type.String(), { description: 'For relabelling' }),
    },
    { title: 'Target group' },
  ),
  {
    description: 'Target groups of Prometheus HTTP service discovery',
    examples: [
      [
        {
          targets: ['mc.example.org:25565'],
          labels: {
            __meta_tickwarden_name: 'survival',
            __meta_tickwarden_group: 'Network',
            __meta_tickwarden_edition: 'java',
            __meta_tickwarden_host: 'mc.example.org',
            __meta_tickwarden_port: '25565',
          },
        },
      ],
    ],
  },
)

function toGroup(server: ServerSettings, target: string): Static<typeof TargetGroups>[number] {
  const { name, group } = server
  const address = addressOf(server)
  return {
    targets: [target],
    labels: {
      __meta_tickwarden_name: name,
      ...(group !== undefined && { __meta_tickwarden_group: group }),
      ...(address && {
        __meta_tickwarden_edition: address.edition,
        __meta_tickwarden_host: address.host,
        __meta_tickwarden_port: String(address.port),
      }),
    },
  }
}

/** The reply with one target group per server. */
function prepareTargets(servers: readonly ServerSettings[]): PreparedReply {
  const targets = targetsOf(servers)
  return prepareJson(servers.map((server, index) => toGroup(server, targets[index] ?? server.name)))
}

/** `/sd`: the watched servers for `http_sd_config`. */
export function registerSdRoute(app: FastifyInstance, fleet: Fleet): void {
  const prepared = perServers(fleet, prepareTargets)
  const success = { description: 'The watched servers', content: json(TargetGroups) }
  const schema = {
    tags: ['metrics'],
    summary: 'Watched servers for Prometheus',
    description: 'For `http_sd_config`: one target group per server, to scrape each through `/probe`.',
    security: security.metrics,
    response: { ...preparedReplies(success), ...problems(401) },
  }
  app.get('/sd', { schema }, (request, reply) => sendPrepared(request, reply, prepared()))
}
