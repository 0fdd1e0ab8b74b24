import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { basePath as basePathKind } from '../settings/kinds/index.ts'
import { cachedPerKey } from '../util/cached.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** The prefix of this request; undefined until it has been determined. */
    basePath?: string
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Path under which a reverse proxy serves the app, without a trailing slash: every path in the reply starts with it. */
    readonly basePath: string
  }
}

export interface BasePathOptions {
  /** Path under which a reverse proxy serves the app, without a trailing slash; default: none. */
  readonly basePath?: string
  /** Decides whether a peer is a proxy whose `X-Forwarded-Prefix` replaces the base path; default: none is. */
  readonly isTrustedProxy?: (address: string | undefined) => boolean
}

/** Characters of the longest prefix that is accepted. */
const maxPrefix = 200

/** @returns the prefix that a trusted proxy has removed from the path, without a trailing slash; undefined if it sends none */
export function sentPrefixOf({ headers, socket }: IncomingMessage, { isTrustedProxy }: BasePathOptions): string | undefined {
  const given = headers['x-forwarded-prefix']
  if (isTrustedProxy === undefined || typeof given !== 'string' || given.length > maxPrefix) return undefined
  return isTrustedProxy(socket.remoteAddress) ? basePathKind.parse(given) : undefined
}

/** Removes the configured base path from the URL of a request, if the reverse proxy has not done so. */
export function removeBasePath(request: IncomingMessage, basePath: string): void {
  const { url = '/' } = request
  if (url.startsWith(`${basePath}/`)) request.url = url.slice(basePath.length)
}

/** Sets `originalUrl`, which Fastify reads, to the URL with the base path. */
export function addOriginalUrl(request: IncomingMessage & { originalUrl?: string }, basePath: string): void {
  const { url = '/' } = request
  request.originalUrl = url.startsWith('/') ? basePath + url : url
}

/** Redirects `/mc` to `/mc/`, because the page has relative links. @returns false for every other request */
export function redirectToBase({ url = '/' }: IncomingMessage, response: ServerResponse, basePath: string): boolean {
  if (url !== basePath && !url.startsWith(`${basePath}?`)) return false
  response.writeHead(308, { location: `${basePath}/${url.slice(basePath.length)}`, 'content-length': 0 }).end()
  return true
}

/** Makes the base path available to the routes, and adds it to the paths of redirects. */
export function registerBasePath(app: FastifyInstance, { basePath = '', isTrustedProxy }: BasePathOptions): void {
  app.decorateRequest('basePath', {
    getter() {
      return this.raw.basePath ?? basePath
    },
  })
  if (basePath === '' && isTrustedProxy === undefined) return
  app.addHook('onSend', (request, reply, payload, done) => {
    const location = reply.getHeader('location')
    if (typeof location === 'string' && location.startsWith('/')) reply.header('location', request.basePath + location)
    done(null, payload)
  })
}

/** Caches the values of the base paths that were used last. They are few: a proxy may forward a header sent by its clients. */
export const perBasePath = <T>(make: (basePath: string) => T): ((basePath: string) => T) => cachedPerKey(make, 8)
