import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { version } from '../package.ts'
import { Problem } from './problem.ts'
import { type PreparedReply, prepareJson, sendPrepared } from './reply.ts'

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" width="150" height="32"><text y="24" font-family="sans-serif" font-size="24" fill="#fff">Tickwarden</text></svg>'

export interface DocsOptions {
  /** CSS text that `/docs` is shown with, beside that of Swagger UI. */
  readonly styles: string
}

/**
 * `/openapi.json`, made from the schemas of the routes, and `/docs` to read it. Register before the routes.
 */
export async function registerDocs(app: FastifyInstance, { styles }: DocsOptions): Promise<void> {
  app.addSchema(Problem)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tickwarden',
        version,
        description: 'How Minecraft servers are, seen from outside. Every route is GET; HEAD works as for GET.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      tags: [
        { name: 'status', description: 'The primary server' },
        { name: 'servers', description: 'Every server by name' },
        { name: 'projects', description: 'A database of software projects' },
        { name: 'comebacks', description: 'A database of music releases, dated in KST (UTC+09:00)' },
        { name: 'Script runs', description: 'The scripts that update the databases' },
        { name: 'metrics', description: 'For Prometheus' },
        { name: 'basic', description: 'Help, liveness, version, and the state of the databases' },
      ],
    },
    refResolver: { buildLocalReference: (schema, _base, _fragment, index) => String(schema.$id ?? `schema-${index}`) },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    // Most run it in their own network without TLS, where a browser told to upgrade finds nothing to load the page from.
    transformStaticCSP: (policy) => policy.replace(' upgrade-insecure-requests;', ''),
    theme: { title: 'Tickwarden API', css: [{ filename: 'tickwarden.css', content: styles }] },
    logo: { type: 'image/svg+xml', content: logo, href: '..' },
    uiHooks: {
      // The page's own copy of the description.
      onRequest(request, reply, done) {
        if (request.routeOptions.url === '/docs/json') reply.redirect('/openapi.json')
        else done()
      },
    },
  })
  let prepared: PreparedReply | undefined
  app.get('/openapi.json', { schema: { hide: true } }, (request, reply) => {
    prepared ??= prepareJson(app.swagger())
    return sendPrepared(request, reply, prepared)
  })
}
