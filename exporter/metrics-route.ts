import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../src/clock.ts'
import type { DataMetrics } from '../src/data-metrics.ts'
import type { DiscoveryView } from '../src/discovery/status.ts'
import type { Fleet } from '../src/game/fleet.ts'
import type { Histogram } from '../src/histogram.ts'
import { acceptsGzip } from '../src/http/accept.ts'
import { security } from '../src/http/docs.ts'
import { problems } from '../src/http/problem.ts'
import type { LiveMetrics } from '../src/live-metrics.ts'
import type { ReplicaMetrics } from '../src/replica-metrics.ts'
import { data as dataFamilies } from './families/data.ts'
import { discovery as discoveryFamilies } from './families/discovery.ts'
import { live as liveFamilies } from './families/live.ts'
import { replica as replicaFamilies } from './families/replica.ts'
import type { FleetText } from './fleet-text.ts'
import { nameLookupText } from './histogram-text.ts'
import type { HttpHistogram } from './http-histogram.ts'
import { chooseFormat } from './negotiate.ts'
import type { ServiceMetrics } from './service-metrics.ts'
import { contentTypes, createExposition, endings, type Format } from './text.ts'

const compress = promisify(gzip)
/** Fastest: it is on the scraper's critical path, and these texts shrink to a tenth at any level. */
const compression = { level: constants.Z_BEST_SPEED }

/** Shorter texts, such as those of a probe, are sent as they are: zlib would take longer than all the rest of the reply. */
const minGzipLength = 16_384

/** How long after a scrape snapshots are rendered as they arrive, in milliseconds: twice the usual minute between scrapes. */
const renderAheadMs = 120_000

const example = '# HELP minecraft_up Whether the server answers.\n# TYPE minecraft_up gauge\nminecraft_up{server="survival"} 1\n'

/** The replies of a route with metrics. */
export const metricsSchema = {
  200: {
    description: 'The metrics',
    content: {
      'text/plain': { schema: Type.String({ description: 'Prometheus text format 0.0.4' }), example },
      'application/openmetrics-text': {
        schema: Type.String({ description: 'OpenMetrics 1.0.0, where the client prefers it' }),
        example: `${example}# EOF\n`,
      },
    },
  },
  ...problems(400, 401),
}

/**
 * Sends metrics, gzipped if the client accepts it and they are not short.
 * @param format that of `text`, which the client prefers
 */
export async function sendMetrics(
  request: FastifyRequest,
  reply: FastifyReply,
  text: Buffer | string,
  format: Format,
): Promise<FastifyReply> {
  reply.headers({
    'content-type': contentTypes[format],
    'cache-control': 'no-store',
    vary: 'Accept, Accept-Encoding',
  })
  if (text.length < minGzipLength || !acceptsGzip(request.headers['accept-encoding'])) return reply.send(text)
  reply.header('content-encoding', 'gzip')
  return reply.send(await compress(text, compression))
}

export interface MetricsParts {
  readonly fleet: Fleet
  readonly clock: Clock
  readonly fleetText: FleetText
  readonly service: ServiceMetrics
  readonly histogram: HttpHistogram
  readonly nameLookups: Histogram
  readonly data?: DataMetrics
  readonly live?: LiveMetrics
  readonly discovery?: DiscoveryView
  readonly replica?: ReplicaOptions
}

export interface ReplicaOptions {
  readonly metrics: () => ReplicaMetrics
  readonly isPolledHere: (server: string) => boolean
}

/** `/metrics`: all watched servers and the service itself. */
export function registerMetricsRoute(app: FastifyInstance, parts: MetricsParts): void {
  const { fleet, clock, fleetText, service, histogram, nameLookups, data, live, discovery, replica } = parts
  const writeData = createExposition(dataFamilies)
  const writeLive = createExposition(liveFamilies)
  const writeDiscovery = createExposition(discoveryFamilies)
  const writeReplica = createExposition(replicaFamilies)
  const isPolledHere = ({ server }: { readonly server: string }) => replica === undefined || replica.isPolledHere(server)
  let lastScrape = Number.NEGATIVE_INFINITY
  // While something scrapes, the next scrape only copies what was rendered between the two (`npm run bench -- metrics`).
  const unsubscribe = fleet.subscribe((snapshot) => {
    if (clock.now() - lastScrape < renderAheadMs && isPolledHere(snapshot)) fleetText.prepare(snapshot)
  })
  app.addHook('onClose', async () => unsubscribe())

  app.get(
    '/metrics',
    {
      schema: {
        tags: ['metrics'],
        summary: 'Metrics of all watched servers and of the service',
        description:
          'For a scrape by Prometheus: the newest values of every watched server, and of this process. Where replicas share the servers: of those that this one polls.',
        security: security.metrics,
        response: metricsSchema,
      },
    },
    async (request, reply) => {
      lastScrape = clock.now()
      const format = chooseFormat(request.headers.accept)
      const own = [
        data === undefined ? '' : writeData(data, format),
        live === undefined ? '' : writeLive(live, format),
        discovery === undefined ? '' : writeDiscovery(discovery, format),
        replica === undefined ? '' : writeReplica(replica.metrics(), format),
        histogram.text(format),
        nameLookupText(nameLookups, format),
        await service.text(format),
        endings[format],
      ].join('')
      const servers = fleetText.bytes(
        fleet.watchers.filter(isPolledHere).map((watcher) => watcher.snapshot()),
        format,
      )
      return sendMetrics(request, reply, Buffer.concat([servers, Buffer.from(own)]), format)
    },
  )
}
