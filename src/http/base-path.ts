import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Path under which a reverse proxy serves the app, without a trailing slash: every path in a reply starts with it. */
    readonly basePath: string
  }
}

/**
 * Removes the base path from the URL of a request, if the reverse proxy has not done so. `originalUrl`, which Fastify reads,
 * always includes it.
 */
export function removeBasePath(request: IncomingMessage & { originalUrl?: string }, basePath: string): void {
  const { url = '/' } = request
  const path = url.startsWith(`${basePath}/`) ? url.slice(basePath.length) : url
  request.originalUrl = path.startsWith('/') ? basePath + path : path
  request.url = path
}

/** Redirects `/mc` to `/mc/`, because the page has relative links. @returns false for every other request */
export function redirectToBase({ url = '/' }: IncomingMessage, response: ServerResponse, basePath: string): boolean {
  if (url !== basePath && !url.startsWith(`${basePath}?`)) return false
  response.writeHead(308, { location: `${basePath}/${url.slice(basePath.length)}`, 'content-length': 0 }).end()
  return true
}

/** Makes the base path available to the routes, and adds it to the paths of redirects. */
export function registerBasePath(app: FastifyInstance, basePath: string): void {
  app.decorate('basePath', basePath)
  if (basePath === '') return
  app.addHook('onSend', (_request, reply, payload, done) => {
    const location = reply.getHeader('location')
    if (typeof location === 'string' && location.startsWith('/')) reply.header('location', basePath + location)
    done(null, payload)
  })
}
