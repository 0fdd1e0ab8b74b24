import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { security } from '../src/http/openapi/docs.ts'
import { acceptsGzip } from '../src/http/replies/accept.ts'
import { problems } from '../src/http/replies/problem.ts'
import { createPauses, type Pauses } from '../src/util/pauses.ts'
import { Type } from '../src/util/schema.ts'
import { chooseFormat } from './negotiate.ts'
import type { MetricsRenderer } from './render.ts'
import { contentTypes, type Format } from './text.ts'

const compress = promisify(gzip)
/** The scraper waits for the compression, and every level shrinks these texts to a tenth. */
const compression = { level: constants.Z_BEST_SPEED }
/**
 * Bytes that each call of zlib may write: with the default of 16 KiB it takes several calls per chunk, each of which waits for a
 * turn of the event loop.
 */
const compressedChunkSize = 131_072

/** Shorter texts, such as those of a probe, are sent uncompressed: zlib would take longer than the rest of the reply. */
const minGzipLength = 16_384

/**
 * Bytes of the chunks in which a longer text is sent. To compress and to write one takes two turns of the event loop, each of many
 * milliseconds while thousands of servers are polled.
 */
const chunkLength = 1_048_576

const example = '# HELP minecraft_up Whether the server answers.\n# TYPE minecraft_up gauge\nminecraft_up{server="survival"} 1\n'

/** The replies of a route with metrics. */
export const metricsSchema = {
  200: {
    description: 'The metrics',
    content: {
      'text/plain': { schema: Type.String({ description: 'Prometheus text format 0.0.4' }), example },
      'application/openmetrics-text': {
        schema: Type.String({ description: 'OpenMetrics 1.0.0, if the client prefers it' }),
        example: `${example}# EOF\n`,
      },
    },
  },
  ...problems(400, 401),
}

const headersOf = (format: Format) => ({
  'content-type': contentTypes[format],
  'cache-control': 'no-store',
  vary: 'Accept, Accept-Encoding',
})

/**
 * Sends metrics, gzipped if the client accepts it and the text is not short.
 * @param format the format of `text`
 */
export async function sendMetrics(
  request: FastifyRequest,
  reply: FastifyReply,
  text: string | Buffer,
  format: Format,
): Promise<FastifyReply> {
  if (text.length < minGzipLength || !acceptsGzip(request.headers['accept-encoding'])) {
    // Without reply.send(), whose hooks have nothing to do here and cost as much as rendering the text (`npm run bench -- probe`).
    reply.raw.writeHead(200, { ...headersOf(format), 'content-length': Buffer.byteLength(text) }).end(text)
    return reply.hijack()
  }
  return reply
    .headers(headersOf(format))
    .header('content-encoding', 'gzip')
    .send(await compress(text, compression))
}

/** Joins parts into chunks, with pauses in which other work runs. The last chunk is shorter. */
export async function* toChunks(
  parts: Iterable<Buffer>,
  pauses: Pauses = createPauses({ hasPriority: true }),
): AsyncGenerator<Buffer> {
  let chunk: Buffer[] = []
  let length = 0
  for (const part of parts) {
    chunk.push(part)
    length += part.length
    if (length >= chunkLength) {
      yield Buffer.concat(chunk)
      chunk = []
      length = 0
    }
    if (pauses.isDue()) await pauses.take()
  }
  yield Buffer.concat(chunk)
}

/**
 * Sends metrics: a text of one chunk at once, a longer one as a stream, gzipped chunk by chunk, because a single call for all of
 * it would occupy a thread of libuv's pool, which file access and name lookups need.
 */
async function streamMetrics(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: Iterable<Buffer>,
  format: Format,
): Promise<FastifyReply> {
  const chunks = toChunks(parts)
  const first = await chunks.next()
  const second = await chunks.next()
  if (second.done) return await sendMetrics(request, reply, first.value as Buffer, format)
  reply.headers(headersOf(format))
  async function* all() {
    yield first.value as Buffer
    yield second.value as Buffer
    yield* chunks
  }
  const text = Readable.from(all(), { objectMode: false, highWaterMark: chunkLength })
  if (!acceptsGzip(request.headers['accept-encoding'])) return reply.send(text)
  reply.header('content-encoding', 'gzip')
  // An error of the text stream destroys the compressed stream, which ends the reply.
  return reply.send(pipeline(text, createGzip({ ...compression, chunkSize: compressedChunkSize }), () => {}))
}

/** `/metrics`: all watched servers and the service itself. */
export function registerMetricsRoute(app: FastifyInstance, render: MetricsRenderer): void {
  app.get(
    '/metrics',
    {
      schema: {
        tags: ['metrics'],
        summary: 'Metrics of all watched servers and of the service',
        description:
          'The latest values of every watched server and of this process, for Prometheus to scrape. A replica exports only the servers that it polls.',
        security: security.metrics,
        response: metricsSchema,
      },
    },
    async (request, reply) => {
      const format = chooseFormat(request.headers.accept)
      return streamMetrics(request, reply, await render(format), format)
    },
  )
}
