import type { IncomingHttpHeaders } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify'
import { notFound } from '../../util/errors.ts'
import { version } from '../../util/package.ts'
import { perBasePath } from '../base-path.ts'
import { pathOf } from '../replies/problem.ts'
import { htmlHeaders, prepareJson, sendPrepared } from '../replies/reply.ts'
import { nameSchemas, operationId } from './openapi.ts'

/** Names of the security schemes, for the `security` of a route; `{}` means that the token may be unset. */
export const security = { metrics: [{ metricsToken: [] }, {}], runs: [{ runToken: [] }, {}] } as const

/**
 * Without `upgrade-insecure-requests`: the service is often used without TLS in a private network, where a browser that upgrades to
 * HTTPS could not load the page. The hash is that of the style element of the logo that Swagger UI renders before it is replaced.
 */
const contentSecurityPolicy = {
  'default-src': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'self'",
  'img-src': ["'self'", 'data:'],
  'object-src': "'none'",
  'script-src-attr': "'none'",
  'style-src': ["'self'", "'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='"],
}

export interface DocsOptions {
  /** CSS of `/docs` in addition to that of Swagger UI. */
  readonly styles: string
  /** Puts the HTML of Swagger UI into the frame of the other pages; default: no frame. @param root relative path to the service */
  readonly frame?: (html: string, root: string, headers: IncomingHttpHeaders) => string
  /** OpenAPI tags of the databases. */
  readonly databaseTags: readonly { readonly name: string; readonly description: string }[]
}

const hidden = { schema: { hide: true } } as const

/** An app with the same routes, which only describes them: its libraries take long to load and are rarely needed. */
async function createDocsApp(routes: readonly RouteOptions[], { styles, databaseTags }: DocsOptions): Promise<FastifyInstance> {
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
  ])
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } })
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tickwarden',
        version,
        description:
          'The state of Minecraft servers, watched from outside. Every route is GET. HEAD works like GET, except that it does not start a script.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      security: [],
      components: {
        securitySchemes: {
          metricsToken: { type: 'http', scheme: 'bearer', description: 'METRICS_TOKEN, if it is set' },
          runToken: { type: 'http', scheme: 'bearer', description: 'RUN_TOKEN, if it is set' },
        },
      },
      tags: [
        { name: 'status', description: 'The primary server' },
        { name: 'servers', description: 'Every server by name' },
        ...databaseTags,
        { name: 'Script runs', description: 'The scripts that update the databases' },
        { name: 'metrics', description: 'For Prometheus' },
        { name: 'basic', description: 'Help, liveness, version, and state of the databases' },
      ],
    },
    transform: ({ schema, url }) => ({ schema: { operationId: operationId(url), ...schema }, url }),
    transformObject: (document) => ('openapiObject' in document ? nameSchemas(document.openapiObject) : document.swaggerObject),
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Relative, so that any base path works.
    indexPrefix: '.',
    staticCSP: contentSecurityPolicy,
    theme: { title: 'Tickwarden API', css: [{ filename: 'tickwarden.css', content: styles }], favicon: [] },
    // Without its bar at the top: the frame has one. Its links would be within buttons.
    uiConfig: { layout: 'BaseLayout', deepLinking: false },
  })
  for (const { url, schema } of routes) app.get(url, { schema: schema ?? {} }, () => {})
  await app.ready()
  return app
}

/** Headers of a request for a file. Without `range`: a file is only sent as a whole. */
const fileHeaders = ['if-none-match', 'if-modified-since'] as const
/** Headers that belong to one connection or one reply. */
const ownHeaders: readonly string[] = ['accept-ranges', 'connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

/**
 * Serves `/openapi.json`, generated from the schemas of the routes, and `/docs` to read it. Must be called before the routes are
 * registered.
 */
export function registerDocs(app: FastifyInstance, options: DocsOptions): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    if (route.method === 'GET' && route.schema?.hide !== true) routes.push(route)
  })
  let loading: Promise<FastifyInstance> | undefined
  const docsApp = () => {
    loading ??= createDocsApp(routes, options)
    return loading
  }
  const replyOf = perBasePath(async (basePath) =>
    prepareJson({ ...(await docsApp()).swagger(), servers: [{ url: basePath || '/', description: 'This service' }] }),
  )
  app.get('/openapi.json', hidden, async (request, reply) => sendPrepared(request, reply, await replyOf(request.basePath)))
  // The copy of the description that the page loads.
  app.get('/docs/json', hidden, (_, reply) => reply.redirect('/openapi.json'))
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const sent = fileHeaders.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]]]))
    const inner = await (await docsApp()).inject({ url: request.url, headers: Object.fromEntries(sent) })
    if (inner.statusCode === 404)
      throw notFound(`There is nothing at ${pathOf(request.originalUrl)}; ${request.basePath}/docs lists every route.`)
    const headers = Object.entries(inner.headers).filter(([name]) => !ownHeaders.includes(name))
    const { frame = (html: string) => html } = options
    const isPage = inner.statusCode === 200 && String(inner.headers['content-type']).startsWith('text/html')
    const root = pathOf(request.url).endsWith('/') ? '../' : ''
    return reply
      .code(inner.statusCode)
      .headers({ ...Object.fromEntries(headers), ...htmlHeaders })
      .headers(isPage ? { vary: 'Accept-Language', 'cache-control': 'no-cache' } : {})
      .send(isPage ? frame(inner.payload, root, request.headers) : inner.rawPayload)
  }
  app.get('/docs', hidden, handler)
  app.get('/docs/*', hidden, handler)
}
