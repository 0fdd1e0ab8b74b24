import { maxHeaderSize } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import { notFound } from '../errors.ts'
import { registerClose } from './close.ts'
import { crossOriginHeaders, registerCors } from './cors.ts'
import { registerDirect } from './direct.ts'
import { registerMethods } from './methods.ts'
import { pathOf, sendProblem } from './problem.ts'
import { unroutedErrors } from './unrouted.ts'

export interface HttpAppOptions {
  readonly logger: FastifyBaseLogger
  readonly corsOrigin: string
  /** Where to look instead, for a client that asked for an unknown path; default, and where undefined: at /docs. */
  readonly whereElse?: (path: string) => string | undefined
}

/** An app without routes that answers errors, unknown paths, other methods and preflight requests as every listener here does. */
export function createHttpApp({ logger, corsOrigin, whereElse }: HttpAppOptions) {
  const crossOrigin = crossOriginHeaders(corsOrigin)
  const app = Fastify({
    loggerInstance: logger,
    // A line per scrape would bury what matters; failures are logged where they are answered.
    logController: new LogController({ disableRequestLogging: true }),
    // A logger of its own for each request costs more than to make most of the replies.
    childLoggerFactory: (parent) => parent,
    // No name is too long to be an unknown one; Node bounds the URL.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: maxHeaderSize },
    ...unroutedErrors(crossOrigin),
    forceCloseConnections: 'idle',
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setErrorHandler((error: Error, request, reply) => sendProblem(request, reply, error as never))
  app.setNotFoundHandler((request) => {
    const path = pathOf(request.url)
    throw notFound(`There is nothing at ${path}; ${whereElse?.(path) ?? '/docs lists what there is'}.`)
  })
  // Queries are parsed by http/query.ts, strictly, and replies are prepared bytes: the schemas only describe.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  registerClose(app)
  registerCors(app, crossOrigin)
  registerMethods(app)
  registerDirect(app, crossOrigin)
  return app
}
