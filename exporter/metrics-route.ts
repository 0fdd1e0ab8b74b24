import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { DataFigures, LiveFigures } from '../src/figures.ts'
import type { Fleet } from '../src/game/fleet.ts'
import type { Histogram } from '../src/histogram.ts'
import { problems } from '../src/http/problem.ts'
import { data as dataFamilies } from './families/data.ts'
import { live as liveFamilies } from './families/live.ts'
import type { FleetText } from './fleet-text.ts'
import { nameLookupText } from './histogram-text.ts'
import type { HttpHistogram } from './http-histogram.ts'
import { acceptsGzip, chooseFormat } from './negotiate.ts'
import type { ServiceMetrics } from './service-metrics.ts'
import { contentTypes, endings, exposition } from './text.ts'

const compress = promisify(gzip)
/** Fastest: it is on the scraper's critical path, and these texts shrink to a tenth at any level. */
const compression = { level: constants.Z_BEST_SPEED }

/** The reply of a route with metrics in it. */
export const metricsSchema = {
  200: {
    description: 'The metrics',
    content: {
      'text/plain': { schema: Type.String({ description: 'Prometheus text format 0.0.4' }) },
      'application/openmetrics-text': { schema: Type.String({ description: 'OpenMetrics 1.0.0, if asked for' }) },
    },
  },
  ...problems(401),
}

/** Sends metrics in the format that was asked for, compressed for who can read that. */
export async function sendMetrics(request: FastifyRequest, reply: FastifyReply, text: Buffer): Promise<FastifyReply> {
  const format = chooseFormat(request.headers.accept)
  reply.headers({
    'content-type': contentTypes[format],
    'cache-control': 'no-store',
    vary: 'Accept, Accept-Encoding',
  })
  if (!acceptsGzip(request.headers['accept-encoding'])) return reply.send(text)
  reply.header('content-encoding', 'gzip')
  return reply.send(await compress(text, compression))
}

export interface MetricsParts {
  readonly fleet: Fleet
  readonly fleetText: FleetText
  readonly service: ServiceMetrics
  readonly histogram: HttpHistogram
  readonly nameLookups: Histogram
  readonly data?: DataFigures
  readonly live?: LiveFigures
}

/** `/metrics`: all watched servers and the service itself. */
export function registerMetricsRoute(app: FastifyInstance, parts: MetricsParts): void {
  const { fleet, fleetText, service, histogram, nameLookups, data, live } = parts
  let unsubscribe: (() => void) | undefined
  app.addHook('onClose', async () => unsubscribe?.())

  app.get(
    '/metrics',
    {
      config: { crossOrigin: false },
      schema: { tags: ['metrics'], summary: 'Metrics of all watched servers and of the service', response: metricsSchema },
    },
    async (request, reply) => {
      // From the first scrape on each snapshot is rendered as it arrives: the next scrape only copies.
      unsubscribe ??= fleet.subscribe(fleetText.prepare)
      const format = chooseFormat(request.headers.accept)
      const own = [
        data === undefined ? '' : exposition(dataFamilies, data, format),
        live === undefined ? '' : exposition(liveFamilies, live, format),
        histogram.text(format),
        nameLookupText(nameLookups, format),
        await service.text(format),
        endings[format],
      ].join('')
      const servers = fleetText.bytes(
        fleet.watchers.map((watcher) => watcher.snapshot()),
        format,
      )
      return sendMetrics(request, reply, Buffer.concat([servers, Buffer.from(own)]))
    },
  )
}
