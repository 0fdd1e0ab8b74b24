import { maxHeaderSize } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { type Clock, systemClock } from '../util/clock.ts'
import { invalidParameter, notFound } from '../util/errors.ts'
import { type BasePathOptions, registerBasePath } from './base-path.ts'
import { registerClient } from './clients/client.ts'
import { ClientLimits, type ClientSettings } from './clients/client-limits.ts'
import { registerClose } from './close.ts'
import { crossOriginHeaders, registerCors } from './cors.ts'
import { DirectReplies } from './direct.ts'
import { createServerFactory, invalidPath, type TimeLimits, timeLimits } from './http-server.ts'
import { registerOtherMethods } from './other-methods.ts'
import { compileQuery, isMalformed, malformedPart, parseQuery } from './parameters.ts'
import { malformed, pathOf, sendProblem } from './replies/problem.ts'

export interface HttpAppOptions extends BasePathOptions {
  readonly logger: FastifyBaseLogger
  readonly corsOrigin: string
  /** Hint for a client that requested an unknown path; default, and if undefined: that /docs lists every route. */
  readonly hintFor?: (path: string) => string | undefined
  readonly limits?: TimeLimits
  /** True if the built-in demo server is watched: replies under /api/v1 then have a header for it. */
  readonly isDemo?: boolean
  /** Limits per client; default: none. */
  readonly clients?: ClientSettings
  readonly clock?: Clock
}

/**
 * Creates an app without routes that handles errors, unknown paths, other methods and preflight requests, as every listener of
 * the service does.
 */
export function createHttpApp({
  logger,
  corsOrigin,
  hintFor,
  limits = timeLimits,
  isDemo = false,
  clients,
  clock = systemClock,
  ...basePaths
}: HttpAppOptions) {
  const crossOrigin = crossOriginHeaders(corsOrigin)
  const direct = new DirectReplies(logger, crossOrigin)
  const app = Fastify({
    loggerInstance: logger,
    // A line per scrape would hide what matters; failures are logged where they are handled.
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request costs more than most replies.
    childLoggerFactory: (parent) => parent,
    // A very long name is an unknown name, not a separate error; Node.js limits the URL.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: maxHeaderSize, querystringParser: parseQuery },
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    // Scheme and host come from the request, because links to this service begin with them.
    trustProxy: basePaths.isTrustedProxy ?? false,
    frameworkErrors: invalidPath,
    // In place of the compilers of Fastify, whose libraries take long to load. Replies are prepared bytes; the schemas only
    // describe them.
    schemaController: {
      // Its type is that of a compiler for JSON Schema.
      compilersFactory: { buildValidator: () => compileQuery as never, buildSerializer: () => () => JSON.stringify },
    },
    ...createServerFactory((request, response) => direct.answer(request, response), limits, {
      ...{ ...basePaths, isDemo },
      ...(clients && { maxConnections: clients.clientConnections }),
    }),
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.decorate('direct', direct)
  registerBasePath(app as unknown as FastifyInstance, basePaths)
  registerClient(app as unknown as FastifyInstance)
  app.decorate('clientLimits', new ClientLimits(clients, clock, logger))
  app.setErrorHandler((error: Error, request, reply) => sendProblem(request, reply, error))
  registerClose(app)
  registerOtherMethods(app)
  // After that of other methods, so that its hook, which prepends to those of a route too, runs first.
  registerCors(app, crossOrigin)
  // Before the body is parsed, which no route reads.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) {
      const hint = hintFor?.(pathOf(request.url)) ?? `${request.basePath}/docs lists every route`
      done(notFound(`There is nothing at ${pathOf(request.originalUrl)}; ${hint}.`))
    } else done()
  })
  // After the onRequest hook of the route, which sets whether pages of other origins may read the reply.
  app.addHook('preValidation', (request, _reply, done) => {
    done(isMalformed(request.query) ? invalidParameter(malformed(malformedPart(request.url))) : undefined)
  })
  return app
}
