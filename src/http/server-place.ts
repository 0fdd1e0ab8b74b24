import type { FastifyRequest } from 'fastify'
import type { Fleet } from '../game/fleet.ts'
import type { Watcher } from '../game/watcher/index.ts'
import { notFound, unavailable } from '../util/errors.ts'
import { Type } from '../util/schema.ts'
import { shown } from './parameters.ts'

export const apiRoot = '/api/v1'

const ServerParams = Type.Object({ name: Type.String({ description: 'Configured name of the server', examples: ['survival'] }) })

/** One of the two path prefixes of every route of a server. */
export interface ServerPlace {
  readonly path: string
  /** Tag of its routes in the API description. */
  readonly tag: string
  readonly params?: typeof ServerParams
  /** @throws RequestError if there is no such server */
  watcher(request: FastifyRequest): Watcher
}

/**
 * The watched server of that name.
 * @throws RequestError NOT_FOUND
 */
export function requireServer(fleet: Fleet, name: string, { basePath }: Pick<FastifyRequest, 'basePath'>): Watcher {
  const watcher = fleet.get(name)
  if (watcher === undefined) throw notFound(`There is no server ${shown(name)}; ${basePath}${apiRoot}/servers lists them.`)
  return watcher
}

/** The server whose name is in the path. @throws RequestError NOT_FOUND */
export const requestedServer = (fleet: Fleet, request: FastifyRequest): Watcher =>
  requireServer(fleet, (request.params as { readonly name: string }).name, request)

/** `/api/v1` for the primary server and `/api/v1/servers/{name}` for each. */
export const serverPlaces = (fleet: Fleet): readonly ServerPlace[] => [
  {
    path: apiRoot,
    tag: 'status',
    watcher() {
      const [primary] = fleet.watchers
      if (primary === undefined) throw unavailable('SERVER_UNREACHABLE', 'No server is watched.', 60)
      return primary
    },
  },
  {
    path: `${apiRoot}/servers/:name`,
    tag: 'servers',
    params: ServerParams,
    watcher: (request) => requestedServer(fleet, request),
  },
]
