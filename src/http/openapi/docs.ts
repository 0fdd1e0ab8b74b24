import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { version } from '../../util/package.ts'
import { perBasePath } from '../base-path.ts'
import { htmlHeaders } from '../replies/html-headers.ts'
import { prepareJson, sendPrepared } from '../replies/reply.ts'
import { nameSchemas, operationId } from './openapi.ts'

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" width="150" height="32"><text y="24" font-family="sans-serif" font-size="24" fill="#fff">Tickwarden</text></svg>'

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
  /** OpenAPI tags of the databases. */
  readonly databaseTags: readonly { readonly name: string; readonly description: string }[]
}

/**
 * Serves `/openapi.json`, generated from the schemas of the routes, and `/docs` to read it. Must be called before the routes are
 * registered.
 */
export async function registerDocs(app: FastifyInstance, { styles, databaseTags }: DocsOptions): Promise<void> {
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
    theme: { title: 'Tickwarden API', css: [{ filename: 'tickwarden.css', content: styles }] },
    logo: { type: 'image/svg+xml', content: logo, href: '..' },
    uiHooks: {
      onRequest(request, reply, done) {
        reply.headers(htmlHeaders)
        // The copy of the description that the page loads.
        if (request.routeOptions.url === '/docs/json') reply.redirect('/openapi.json')
        else done()
      },
    },
  })
  const replyOf = perBasePath((basePath) =>
    prepareJson({ ...app.swagger(), servers: [{ url: basePath || '/', description: 'This service' }] }),
  )
  app.get('/openapi.json', { schema: { hide: true } }, (request, reply) =>
    sendPrepared(request, reply, replyOf(request.basePath)),
  )
}
