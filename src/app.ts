import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import '@fastify/swagger'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { registerData } from './data/register.ts'
import { notFound } from './errors.ts'
import type { Fleet } from './game/fleet.ts'
import { registerCors } from './http/cors.ts'
import { registerDocs } from './http/docs.ts'
import { registerMethods } from './http/methods.ts'
import { sendProblem } from './http/problem.ts'
import { registerStatusApi } from './status-api/index.ts'

export interface AppOptions {
  readonly config: Config
  readonly fleet: Fleet
  readonly logger: FastifyBaseLogger
  readonly clock?: Clock
}

/** The service, ready to listen: every part in order. What it is given it does not close. */
export async function buildApp({ config, fleet, logger, clock = systemClock }: AppOptions) {
  const app = Fastify({
    loggerInstance: logger,
    // A line per scrape would bury what matters; failures are logged where they are answered.
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    forceCloseConnections: 'idle',
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setErrorHandler((error: Error, request, reply) => sendProblem(request, reply, error as never))
  app.setNotFoundHandler((request) => {
    throw notFound(`There is nothing at ${request.url.split('?')[0]}; /docs lists what there is.`)
  })
  // Queries are parsed by http/query.ts, strictly, and replies are prepared bytes: the schemas only describe.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  registerCors(app, config.values.corsOrigin ?? '*')
  registerMethods(app, config.values.corsOrigin ?? '*')

  await registerDocs(app)
  registerStatusApi(app, { fleet, clock })
  await registerData(app, { config, clock, log: app.log })
  return app
}

export type App = Awaited<ReturnType<typeof buildApp>>
